// Package layout writes and reads generations, and knows where every byte of one is.
//
// A generation is a directory with Arrow IPC files and a manifest. docs/FORMAT.md describes them
// byte by byte. The package has two sides:
//
//   - To write: [Create] creates the data file for a [Table]. The file is complete except for the
//     values, and its space is reserved. [Writer.Column] opens one column with a [Mode], which says
//     how its values are written. [Writer.Finish] adds checksums, statistics, items, vocabularies
//     and the manifest.
//   - To read: [Open] maps a generation read-only and compares the manifest with the files. [View]
//     returns a column as a strided slice of the mapping, without a copy.
//
// The package is larger than others, because both sides share the format: dtypes and their Go
// types, the manifest, checksums and statistics. The writer computes checksums and statistics while
// values are written. The reader compares the checksums. Split in two, each half would need the
// unexported parts of the other. Code that does not depend on the format is in other packages:
// internal/arrowfile writes and checks Arrow files, internal/moments computes moments, and
// internal/mmapfile maps files.
//
// Files by subject:
//
//	table.go, dtype.go, native.go      the type of a column, and the Go type of its values
//	create.go, column_writer.go,
//	column_buffer.go                   writing the values of columns
//	copy_rows.go                       copying rows from another generation
//	accumulator.go, statistics.go      computing a column's checksum and statistics during writes
//	finish.go, manifest.go,
//	manifest_checksum.go, items.go     the manifest, its checksum and digest, and the small files
//	prepared.go, missing_rows.go       the record of a column's steps, and its missing cells
//	checksum.go                        the checksums of the small files and of Arrow metadata
//	open.go, read.go, feature.go       mapping and reading a generation
//	check.go                           comparing all files with their checksums
//
// # Caveats
//
// A [ColumnWriter] is valid until Finish or Abort. A slice of [Data] is valid between its Acquire
// and release. Open compares every offset of a manifest with the file's footer and size before it
// uses the offset. [Writer.Finish] does not flush files to disk: package store does.
package layout
