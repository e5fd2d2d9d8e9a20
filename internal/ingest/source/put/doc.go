// Package put reads the arrays that a client sends in a put request.
//
// A put sends a [Header], which names the columns, and then the bytes of each column. [Open]
// returns a reader of these bytes. The reader of NumPy files describes its arrays as columns too,
// and reads their values with [ReadValues].
//
// # Caveats
//
// Values are native little-endian, and are read without conversion of the byte order. A header
// comes from a client: [Column.Check] must accept it before its numbers are used.
package put
