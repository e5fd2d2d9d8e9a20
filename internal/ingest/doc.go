// Package ingest turns source files and arrays into the columns of a generation, in a process of its own.
//
// The parent calls [Run], which starts the program again with the verb "ingest", hands it a [Job] and
// follows it; [Main] is the child's whole life. A decoder that panics, takes too much memory or is killed
// costs one load and never the daemon.
//
// The way of a load is always the same, whatever the format: a reader says what a source holds, the
// columns are resolved and laid out (package layout), the reader fills them in place and in parallel, and then come
// the rows (a map says which, and in what order, and the columns are moved by it once, if at all), scaling and the manifest.
// Readers know files, transforms know columns; neither knows the other.
//
// # Caveats
//
// Sources are read with pread and never mapped: a file that shrinks under a load is an error, not a
// SIGBUS. Its size, mtime and inode are compared before and after. Memory beyond the result is bounded by
// blocks of [files.BlockBytes] a worker; what needs a column of scratch (sorting, scaling float64 to float32) takes
// it, and so does a compressed text file, from a file in the job's directory, not from anonymous memory.
package ingest
