package tensorcache_test

import (
	"context"
	"fmt"
	"log"
	"time"

	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/window"
)

// A trainer's loop. The batches are in shared memory, and each is valid in the loop's body.
func ExampleFeed_Epoch() {
	ctx := context.Background()
	cache, err := tensorcache.Connect(ctx, tensorcache.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	data, err := cache.Load(ctx, "etth1", []string{"../../examples/data/ETTh1.csv"},
		tensorcache.LoadOptions{Time: "date"})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	windows, err := data.Windows(ctx, window.Spec{ContextLength: 336, PredictionLength: 96})
	if err != nil {
		log.Fatal(err)
	}
	parts, err := windows.Split(ctx, tensorcache.Split{Lengths: []int64{8640, 2880, 2880}})
	if err != nil {
		log.Fatal(err)
	}
	feed, err := tensorcache.NewFeed[float32](ctx, parts[0],
		tensorcache.FeedOptions{BatchSize: 32, Order: "shuffle"})
	if err != nil {
		log.Fatal(err)
	}
	defer feed.Close()
	for batch, err := range feed.Epoch(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Context.Shape, batch.Target.Shape, len(batch.Context.Data))
		break
	}
	state := feed.State() // save it with json.Marshal; feed.LoadState resumes there
	fmt.Println(feed.Len(), "batches an epoch; consumed:", state.Consumed)
	// Output:
	// [32 336 7] [32 96 7] 75264
	// 257 batches an epoch; consumed: 32
}

// Windows by their numbers, in memory of the caller.
func ExampleAt() {
	ctx := context.Background()
	cache, err := tensorcache.Connect(ctx, tensorcache.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	data, err := cache.Put(ctx, "ramp",
		[]tensorcache.PutColumn{tensorcache.Values("v", []float64{0, 1, 2, 3, 4, 5, 6})},
		tensorcache.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	windows, err := data.Windows(ctx, window.Spec{ContextLength: 3, PredictionLength: 1})
	if err != nil {
		log.Fatal(err)
	}
	batch, err := tensorcache.At[float32](ctx, windows, 3, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(windows.Len(), "windows:", batch.Context.Window(0), batch.Target.Window(0),
		batch.Context.Window(1), batch.Target.Window(1))
	// Output: 4 windows: [3 4 5] [6] [0 1 2] [3]
}

// Batches that are slices of the mapped file. Nothing is copied, and the windows overlap.
func ExampleFeedOptions_views() {
	ctx := context.Background()
	cache, err := tensorcache.Connect(ctx, tensorcache.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	columns := []tensorcache.PutColumn{tensorcache.Values("a", []float32{0, 1, 2, 3, 4}),
		tensorcache.Values("b", []float32{5, 6, 7, 8, 9})}
	// the values of a and b alternate in the file
	data, err := cache.Put(ctx, "rows", columns, tensorcache.LoadOptions{Layout: "packed"})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	windows, err := data.Windows(ctx, window.Spec{ContextLength: 2})
	if err != nil {
		log.Fatal(err)
	}
	feed, err := tensorcache.NewFeed[float32](ctx, windows,
		tensorcache.FeedOptions{BatchSize: 3, Delivery: tensorcache.DeliverView})
	if err != nil {
		log.Fatal(err)
	}
	defer feed.Close()
	for batch, err := range feed.Epoch(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Context.Shape, "step", batch.Context.Step)
		for i := range batch.Len() {
			fmt.Println(batch.Context.Window(i))
		}
	}
	// Output:
	// [3 2 2] step 2
	// [0 5 1 6]
	// [1 6 2 7]
	// [2 7 3 8]
	// [1 2 2] step 2
	// [3 8 4 9]
}

// A feed that resumes at its state. The context limits every wait.
func ExampleFeed_LoadState() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cache, err := tensorcache.Connect(ctx, tensorcache.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	data, err := cache.Put(ctx, "ramp",
		[]tensorcache.PutColumn{tensorcache.Values("v", []float32{0, 1, 2, 3, 4, 5, 6})},
		tensorcache.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	windows, err := data.Windows(ctx, window.Spec{ContextLength: 2})
	if err != nil {
		log.Fatal(err)
	}
	feed, err := tensorcache.NewFeed[float32](ctx, windows, tensorcache.FeedOptions{BatchSize: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer feed.Close()
	for batch := range feed.Epoch(ctx) {
		fmt.Println("first:", batch.Start)
		break
	}
	if err := feed.LoadState(feed.State()); err != nil {
		log.Fatal(err)
	}
	for batch := range feed.Epoch(ctx) {
		fmt.Println("then:", batch.Start)
	}
	// Output:
	// first: [0 1]
	// then: [2 3]
	// then: [4 5]
}
