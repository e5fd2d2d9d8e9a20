// Package ingest loads sources into the columns of a generation, in a child process.
//
// The parent calls [Run] or [Runner.Run]. They start the same program again with the verb "ingest",
// send it a [Job] and read its responses. The child runs [Main], which loads one job and exits. If
// a decoder panics, takes too much memory or is killed, one load fails and the daemon continues.
//
// This package contains the parts that the daemon and the command line use: jobs, the child
// process, its memory limit, and names for the options and errors of the packages below. In the
// child, package load does the work.
//
//	ingest             job, child process, limits
//	 └ load            one load: describe, lay out, read, arrange, run the steps, finish; append
//	    ├ step         the steps of a column, such as fill and scale, and their fitted parameters
//	    ├ rows         selection and order of rows: filter, sort, duplicates, regular grid
//	    ├ option       load options as users write them, and the recipe
//	    └ source       shared code of the readers; its subpackage lines is shared by those of
//	       │           text, and each other one reads one format
//	       └ column    types of columns, conversion, dictionaries
//	files, calendar, textvalue, parallel, progress, loaderr: of the packages of ingest, they
//	import only each other
//
// Readers depend on files and columns. Steps depend on columns, options and rows. Readers and steps
// do not depend on each other.
//
// # Caveats
//
// Sources are read with pread and never mapped: if a file shrinks during a load, the load returns
// an error and the process gets no SIGBUS. Memory without the result is bounded by blocks of
// [files.BlockBytes] per worker. Temporary columns (for sorting, or for scaling float64 to float32)
// and decompressed texts are in files in the job's directory, not in anonymous memory.
package ingest
