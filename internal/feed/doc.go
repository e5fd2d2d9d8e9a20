// Package feed serves one trainer's stream of batches over shared memory.
//
// A [Server] serves feed.sock. A client that opens a dataset gets the file descriptors of its
// files and a lease. A client that attaches a feed gets a ring of slots, and then descriptors of
// the batches in the slots, in order.
//
// The way of a batch: the feed's goroutine asks the sampler for the window numbers of the next
// batches, gives each with a free slot to the pool of gather workers (one per core, shared by all
// feeds), and sends the descriptors, several in a message. The client's credits free slots
// (slots.go). By other deliveries than "slot" it writes the places of the windows itself.
//
// # Caveats
//
// A slot belongs to the client from its descriptor to its credit. The daemon writes to a slot and
// reads there only what it has just written. Besides that, it reads only what a client may have
// written to the queue behind the slots: it reads each count and each credit once, and checks them
// as it checks frames. An invalid client can therefore only end its own feed.
package feed
