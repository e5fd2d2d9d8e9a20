// Package layout knows where every byte of a generation is.
//
// A generation is a directory of ordinary Arrow IPC files and a manifest. [Create] lays one out:
// the file is complete, its space reserved, and each column of it is written by a [ColumnWriter];
// [Writer.Finish] adds checksums, items, vocabularies and the manifest. [Open] maps one read-only and
// hands out columns as strided slices of the mapping, without a copy.
//
// docs/FORMAT.md describes the files byte by byte.
//
// # Caveats
//
// A [ColumnWriter] is valid until Finish or Abort, a slice of [Data] between its Acquire and release. Opening trusts
// no number of a manifest before it was held against the file's footer and size.
package layout
