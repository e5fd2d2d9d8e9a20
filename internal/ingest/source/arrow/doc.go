// Package arrow reads Arrow files and Arrow IPC streams, also streams that a client sends in a put.
//
// A file is read as the stream of messages in it. file.go and footer.go find the messages of a
// file, messages.go checks every message before any value is decoded, and rows.go decodes record
// batches and writes their columns. columns.go converts arrays, dictionaries.go decodes
// dictionaries, and batch_memory.go bounds the memory of a batch.
//
// # Caveats
//
// Arrow v15 trusts what it reads. The package therefore checks metadata, buffers, compressed frames
// and null counts against the format first. A type that Arrow v15 does not know makes the whole
// file unreadable, even if its column is not loaded.
//
// Arrow v15 decodes a whole record batch at a time, and a writer may put all rows into one batch.
// Memory beyond 16 MiB comes from mapped files in the job's directory.
package arrow
