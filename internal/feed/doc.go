// Package feed serves one trainer's stream of batches over shared memory.
//
// A [Server] listens on feed.sock. A client that opens a dataset gets its files' descriptors and a
// lease; one that attaches a feed gets a ring of slots and then descriptors of the batches that
// stand in it, in order. [Windows] is what a spec and cuts come to on a generation: the index, and
// which columns each part delivers.
//
// The way of a batch: the stream's goroutine asks the sampler for the window numbers of the next
// batches, gives each to the pool of gather workers (one per core, shared by all streams) with a
// free slot, and sends the descriptors, several to a message. The client's credits give slots back.
//
// # Caveats
//
// A slot belongs to the client from its descriptor to its credit; the daemon only writes there and
// never reads what a client may have written, but for counts and credits of the queue behind the
// slots, which it reads once each and checks as it checks frames. A client can therefore harm
// nobody but itself.
package feed
