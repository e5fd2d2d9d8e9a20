// Package jobs runs the long operations of the daemon as jobs: loads, appends, puts, scaled copies,
// verifications and preloads of datasets.
//
// A [Queue] decides when jobs run. It divides the cores among them, joins requests for the same
// work, cancels jobs, and remembers the last ones with their progress. It does not know what a job
// does. A [Manager] knows: it runs each load in a child process, reserves the memory that the child
// asks for, and publishes the generation that the child has written. The feed server's puts are
// jobs too.
//
// # Goroutines
//
// Each job but a put has one goroutine, which waits until the queue starts the job and then does
// its work. A put runs in the goroutine of its caller, which waits for it. The goroutines
// of a child process (package ingest) wait for its exit and may outlive the job. [Manager.Close]
// cancels all jobs, kills their child processes, and waits for all of these and for puts.
//
// Errors that users see are *wire.Problem: see [ProblemOf].
package jobs
