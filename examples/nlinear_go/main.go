// Command nlinear_go trains NLinear on ETTh1 in Go, on windows that the tensorcache daemon serves.
//
//	go run ./examples/nlinear_go
//
// NLinear (Zeng, Chen, Zhang, Xu: Are Transformers Effective for Time Series Forecasting?, AAAI
// 2023) subtracts each series' last value, applies one linear map over time, and adds the value
// back. The set-up is the paper's: context 336, prediction 96, batch 32, scaled by the first 8,640
// rows; the paper has a test MSE of 0.374.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/window"
)

func main() {
	var o options
	flag.StringVar(&o.csv, "csv", "examples/data/ETTh1.csv", "the data file")
	flag.Int64Var(&o.context, "context-length", 336, "rows of a context")
	flag.Int64Var(&o.prediction, "prediction-length", 96, "rows to predict")
	flag.Int64Var(&o.train, "train", 8640,
		"training rows; validation and test have a third as many each")
	flag.IntVar(&o.epochs, "epochs", 4, "passes over the training windows")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of the training order")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "nlinear_go:", err)
		os.Exit(1)
	}
}

type options struct {
	csv                        string
	context, prediction, train int64
	epochs                     int
	seed                       uint64
}

func run(ctx context.Context, o options) error {
	cache, err := tensorcache.Connect(ctx, tensorcache.Options{}) // starts a daemon if none runs
	if err != nil {
		return err
	}
	defer cache.Close()
	data, err := cache.Load(ctx, "etth1", []string{o.csv},
		tensorcache.LoadOptions{Time: "date", Scale: "standard",
			FitRows: &[2]*int64{nil, &o.train}})
	if err != nil {
		return err
	}
	defer data.Close()
	windows, err := data.Windows(ctx,
		window.Spec{ContextLength: o.context, PredictionLength: o.prediction})
	if err != nil {
		return err
	}
	parts, err := windows.Split(ctx,
		tensorcache.Split{Lengths: []int64{o.train, o.train / 3, o.train / 3}})
	if err != nil {
		return err
	}
	// With channels first, the rows of a feature are contiguous.
	feeds := make([]*tensorcache.Feed[float32], len(parts))
	for i, order := range []string{"shuffle", "sequential", "sequential"} {
		feeds[i], err = tensorcache.NewFeed[float32](ctx, parts[i],
			tensorcache.FeedOptions{BatchSize: 32, Order: order, Seed: o.seed, ChannelsFirst: true})
		if err != nil {
			return err
		}
		defer feeds[i].Close()
		fmt.Printf("%s: %d windows\n", parts[i].Name(), parts[i].Len())
	}
	model := newNLinear(int(o.context), int(o.prediction))
	repeatLast, err := evaluate(ctx, model, feeds[2]) // an untrained model repeats the last value
	if err != nil {
		return err
	}
	best, rate := model.clone(), float32(0.005)
	lowest, err := evaluate(ctx, model, feeds[1])
	if err != nil {
		return err
	}
	for epoch := range o.epochs {
		if epoch >= 2 {
			rate /= 2
		}
		began := time.Now()
		for batch, err := range feeds[0].Epoch(ctx) {
			if err != nil {
				return err
			}
			model.learn(batch.Context.Data, batch.Target.Data, rate)
		}
		score, err := evaluate(ctx, model, feeds[1])
		if err != nil {
			return err
		}
		if score < lowest {
			best, lowest = model.clone(), score
		}
		stats, err := feeds[0].Stats(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("epoch %d: validation MSE %.4f, %.1f s, in all %.1f %% of the time in wait for data\n",
			epoch+1, score, time.Since(began).Seconds(),
			100*stats.WaitData.Seconds()/stats.Pass.Seconds())
	}
	score, err := evaluate(ctx, best, feeds[2])
	if err != nil {
		return err
	}
	fmt.Printf("test MSE: %.4f; of repeating the last value: %.4f\n", score, repeatLast)
	return nil
}

// evaluate returns the mean squared error over all windows of a feed.
func evaluate(ctx context.Context, m *nlinear, feed *tensorcache.Feed[float32]) (float64, error) {
	sum, count := 0.0, 0
	for batch, err := range feed.Epoch(ctx) {
		if err != nil {
			return 0, err
		}
		m.residuals(batch.Context.Data, batch.Target.Data, func(_, residual []float32) {
			for _, e := range residual {
				sum += float64(e) * float64(e)
			}
		})
		count += len(batch.Target.Data)
	}
	return sum / float64(count), nil
}
