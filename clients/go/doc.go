// Package tensorcache is the Go client of a tensorcache daemon: columns of files as typed slices
// over shared memory, and batches of sequential windows of them, prepared ahead of the program that
// trains or scores.
//
//	cache, err := tensorcache.Connect(ctx, tensorcache.Options{}) // starts a daemon when none runs
//	data, err := cache.Load(ctx, "etth1", []string{"ETTh1.csv"}, tensorcache.LoadOptions{Time: "date"})
//	values, err := tensorcache.Column[float64](data, "OT") // no copy, valid until data.Close
//
//	windows, err := data.Windows(ctx, window.Spec{ContextLength: 336, PredictionLength: 96})
//	parts, err := windows.Split(ctx, tensorcache.Split{Lengths: []int64{8640, 2880, 2880}})
//	feed, err := tensorcache.NewFeed[float32](ctx, parts[0], tensorcache.FeedOptions{BatchSize: 32, Order: "shuffle"})
//	defer feed.Close()
//	for epoch := range 3 { // the next epoch follows by itself
//		for batch, err := range feed.Epoch(ctx) {
//			if err != nil {
//				return err
//			}
//			batch.Context.Data // []float32 of shape [32, 336, 7], a piece of the feed's ring: no copy
//			batch.Target.Data  // [32, 96, 7]
//		}
//	}
//	state := feed.State() // a few integers, ready for JSON; feed.LoadState resumes exactly
//
// Which windows exist, and in which order they come, is what docs/WINDOWS.md says; a [window.Spec]
// is its dictionary. The daemon, its files and its command line are described in docs/PROTOCOL.md,
// docs/FORMAT.md and the README.
//
// # Deliveries
//
// By default the daemon gathers each batch into a slot of shared memory ([DeliverSlot]).
// [DeliverView] lends pieces of the mapped file instead, where windows follow each other and have
// whole rows; [DeliverLocal] gathers in this process; [DeliverStarts] only says where the windows
// are, and [DeliverAuto] chooses. All of them bring the same windows in the same order, and the
// same [Feed.State].
//
// # Whose memory
//
// What lives in shared memory has a scope that ends by itself: a batch belongs to the body of the
// loop that got it, and its parts are empty afterwards. [Batch.Hold] lets it live longer,
// [Batch.Copy] gives one of its own. What [At] and [Dataset.Inverse] return is always memory of the
// caller's own. [Column] and [View] are slices of the mapped file, which is mapped read-only:
// writing to one ends the program, and so does reading one after [Dataset.Close].
//
// # Errors
//
// What the daemon refuses is an [*Error], and errors.Is tells its type: errors.Is(err,
// tensorcache.DatasetNotFound). A daemon that went away is [ErrGone]; it is noticed at once, since
// the kernel closes its sockets.
//
// # Concurrency
//
// A [Cache], [Dataset] and [Windows] are safe for concurrent use. A [Feed] serves one goroutine;
// its State, Stats, Delivery and Close, and what Hold returns, may be called from others. Every
// call that waits for the daemon has a context that ends the wait.
package tensorcache
