// Package layout knows where every byte of a generation is.
//
// A generation is a directory of ordinary Arrow IPC files and a manifest. docs/FORMAT.md describes them byte by byte. The package has
// two sides:
//
//   - To write: [Create] lays a file out for a [Table]: it is complete but for the values, and its space is reserved. [Writer.Column] opens
//     one column of it, with a [Mode] that says how its values are written. [Writer.Finish] adds checksums, statistics, items,
//     vocabularies and the manifest.
//   - To read: [Open] maps a generation read-only and compares the manifest with the files. [View] returns a column as a strided
//     slice of the mapping, without a copy.
//
// Both sides are one package, larger than others, because they share what the format is made of: dtypes and their Go types, the manifest, and
// checksums and statistics, which are made while values are written and compared when they are read. What is not about columns is below:
// internal/arrowfile writes and checks the Arrow files, internal/moments measures values, internal/mmapfile maps files.
//
// Where to look:
//
//	table.go, dtype.go, native.go                    what a column is, and the Go type of its values
//	create.go, column_writer.go, column_buffer.go    writing the values of columns
//	copyrows.go                                      copying rows from another generation
//	accumulator.go, checksum.go, statistics.go       the checksum and the statistics of a column, while it is written
//	finish.go, manifest.go, items.go, prepared.go    what stands beside the values
//	open.go, check.go, read.go, feature.go           mapping, checking and reading a generation
//
// # Caveats
//
// A [ColumnWriter] is valid until Finish or Abort, a slice of [Data] between its Acquire and release. Open trusts no number of a
// manifest before it was compared with the file's footer and size.
package layout
