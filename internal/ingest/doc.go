// Package ingest loads sources into the columns of a generation, in a process of its own.
//
// The parent calls [Run], which starts the program again with the verb "ingest", hands it a [Job] and
// follows it. [Main] is the child's whole life: it does one job, and ends. A decoder that panics, takes
// too much memory or is killed costs one load and never the daemon.
//
// This package holds what the daemon and the command line see: jobs, the child process, its limits, and
// the options and errors of the packages below. Package load does the work in the child.
//
//	ingest             job, child process, limits
//	 └ load            one load: describe, lay out, read, arrange, do the steps, finish; append
//	    ├ step         fill, clip, log1p, diff, scale, and what they are fitted to
//	    ├ rows         which rows, in which order: filter, sort, duplicates, regular grid
//	    ├ option       load options as users write them, and the recipe
//	    └ source       what readers share; text, parquet, arrow, numpy, tfrecord and put read one format each
//	       └ column    types of columns, conversion, dictionaries
//	files, calendar, textvalue, parallel, progress, loaderr: leaves
//
// Readers know files and columns; steps know columns; neither knows the other.
//
// # Caveats
//
// Sources are read with pread and never mapped: a file that shrinks under a load is an error, not a
// SIGBUS. Memory beyond the result is bounded by blocks of [files.BlockBytes] a worker. What needs a
// column of scratch (sorting, scaling float64 to float32) or a decompressed text takes it from a file in
// the job's directory, not from anonymous memory.
package ingest
