// Package tensorcache is the Go client of a tensorcache daemon. It returns columns of files as
// typed slices over shared memory, and batches of windows of these columns, which the daemon
// prepares ahead of the program that trains or predicts.
//
//	cache, err := tensorcache.Connect(ctx, tensorcache.Options{}) // starts a daemon if none runs
//	data, err := cache.Load(ctx, "etth1", []string{"ETTh1.csv"},
//		tensorcache.LoadOptions{Time: "date"})
//	values, err := tensorcache.Column[float64](data, "OT") // no copy, valid until data.Close
//
//	windows, err := data.Windows(ctx, window.Spec{ContextLength: 336, PredictionLength: 96})
//	parts, err := windows.Split(ctx, tensorcache.Split{Lengths: []int64{8640, 2880, 2880}})
//	feed, err := tensorcache.NewFeed[float32](ctx, parts[0],
//		tensorcache.FeedOptions{BatchSize: 32, Order: "shuffle"})
//	defer feed.Close()
//	for range 3 { // each pass is the next epoch
//		for batch, err := range feed.Epoch(ctx) {
//			if err != nil {
//				return err
//			}
//			batch.Context.Data // []float32 of shape [32, 336, 7], in shared memory: no copy
//			batch.Target.Data  // [32, 96, 7]
//		}
//	}
//	state := feed.State() // a few integers, ready for JSON; feed.LoadState resumes there
//
// docs/WINDOWS.md defines which windows a [window.Spec] admits, and their orders.
// docs/PROTOCOL.md and docs/FORMAT.md describe the daemon's protocol and files.
//
// # Deliveries
//
// A delivery is a way to get batches to the loop. By [DeliverSlot], the default, the daemon gathers
// each batch into a slot of shared memory. [DeliverView] returns slices of the mapped file, if
// windows are consecutive and have whole rows. [DeliverLocal] gathers in this process.
// [DeliverStarts] delivers only the places of the windows. [DeliverAuto] chooses one. All
// deliveries have the same windows in the same order, and the same [Feed.State].
//
// # Lifetime of memory
//
// A batch of a feed is valid in the body of the loop that received it; afterwards its parts are
// empty. [Batch.Hold] extends its life, and [Batch.Copy] returns a copy. [At], [Inverse] and
// [Dataset.Inverse] return memory of the caller. [Column] and [View] return slices of a file that
// is mapped read-only. Writing to such a slice, or reading it after [Dataset.Close], ends the
// program with a fault.
//
// # Errors
//
// If the daemon refuses a request, the error is an [*Error], and errors.Is reports its type:
// errors.Is(err, tensorcache.DatasetNotFound). If the daemon is gone, the error wraps [ErrGone].
// The client notices that at once, because the kernel closes the daemon's sockets.
//
// # Concurrency
//
// A [Cache], [Dataset] and [Windows] are safe for concurrent use. A [Feed] serves one goroutine.
// Other goroutines may call its State, Stats, Delivery and Close, and the function that
// [Batch.Hold] returns. Every call that waits for the daemon has a context that ends the wait.
package tensorcache
