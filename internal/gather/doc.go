// Package gather copies windows from mapped columns into blocks of memory, as dense arrays.
//
// A [Part] copies one part of windows, such as the context: samples of some columns, as values of
// one dtype, into a block of the shape [Block]. It chooses a mover for each group of its columns
// when it is made: whole rows or channels in one copy, columns that are not adjacent interleaved
// eight at a time, or value by value with a conversion. The daemon gathers into the slots of a
// ring, the Go client into its own memory.
//
// [Part.Prefetch] fetches the cache lines of the next window while the present one is copied, since
// random windows are in no cache.
//
// # Caveats
//
// Copy allocates nothing and takes no lock. A row outside of the columns is a panic, not a read of
// other memory. The columns must stay mapped meanwhile.
package gather
