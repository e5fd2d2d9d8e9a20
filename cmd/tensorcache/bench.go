package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/window"
)

func newBench(o *options) *cobra.Command {
	b := &bench{options: o}
	cmd := &cobra.Command{
		Use: "bench [NAME]", Short: "measure this machine's limit, and a dataset's feeds beside it",
		Args: cobra.MaximumNArgs(1),
		Long: `Bench copies memory as fast as one core can, contiguously: the machine's limit.
With a name it then reads that dataset's windows as a trainer does that only
looks at each batch, by each delivery: dense batches gathered into shared memory
in both shapes, and views where the order allows them. RATIO is the bytes of the
batches to those that memory can be copied at; these views copy nothing. All is
measured in the layout that the dataset is stored in, columns or packed: load it
in the other one, by another name, to compare the two.`,
		Example: "  tensorcache bench etth1 --seconds 0.5",
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.seconds <= 0 || b.seconds > 3600 {
				return usageError{fmt.Errorf(
					"--seconds: got %v, want more than 0 and at most 3600", b.seconds)}
			}
			if b.batch < 1 {
				return usageError{fmt.Errorf("--batch-size: got %d, want 1 or more", b.batch)}
			}
			for _, rows := range []struct {
				flag  string
				least int64
				n     *int64
			}{{"context-length", 1, &b.spec.ContextLength},
				{"prediction-length", 0, &b.spec.PredictionLength}} {
				if !cmd.Flags().Changed(rows.flag) {
					*rows.n = unsetLength
				} else if *rows.n < rows.least {
					return usageError{fmt.Errorf("--%s: got %d, want %d or more", rows.flag,
						*rows.n, rows.least)}
				}
			}
			return b.run(cmd, args)
		},
	}
	jsonFlag(cmd, &b.asJSON)
	f := cmd.Flags()
	f.Float64Var(&b.seconds, "seconds", 1, "measure each for so many `seconds`")
	f.Int64Var(&b.batch, "batch-size", 256, "windows of a batch")
	f.Int64Var(&b.spec.ContextLength, "context-length", 0,
		"rows a window looks back over (default 336, fewer where items are short)")
	f.Int64Var(&b.spec.PredictionLength, "prediction-length", 0,
		"rows to predict (default 96, fewer where items are short)")
	return cmd
}

type bench struct {
	*options
	seconds float64
	batch   int64
	spec    window.Spec
	asJSON  bool
}

// benchResult is what bench has measured.
type benchResult struct {
	CopyBytesPerS float64      `json:"copy_bytes_per_s"` // one core, contiguous
	Dataset       string       `json:"dataset,omitempty"`
	Layout        string       `json:"layout,omitempty"`
	Context       int64        `json:"context_length,omitempty"`
	Prediction    int64        `json:"prediction_length,omitempty"`
	Windows       int64        `json:"windows,omitempty"`
	BatchSize     int64        `json:"batch_size,omitempty"`
	Feeds         []feedResult `json:"feeds,omitempty"`
}

// feedResult is the speed of one delivery.
type feedResult struct {
	Name        string  `json:"name"`
	Order       string  `json:"order"`
	Path        string  `json:"path"` // how a batch's context is delivered
	WindowsPerS float64 `json:"windows_per_s"`
	BytesPerS   float64 `json:"bytes_per_s"` // of the batches' contexts and targets
	Ratio       float64 `json:"ratio"`       // of BytesPerS to CopyBytesPerS
	WaitShare   float64 `json:"wait_share"`  // waiting for data, of the time inside passes
	Reason      string  `json:"reason"`      // why it could not be measured, else ""
}

func (b *bench) run(cmd *cobra.Command, args []string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := benchResult{CopyBytesPerS: measureCopy(b.duration())}
	if len(args) > 0 {
		if err := b.dataset(ctx, args[0], &m); err != nil {
			return err
		}
	}
	if b.asJSON {
		return printJSON(cmd.OutOrStdout(), m)
	}
	return writeBenchResult(cmd, m)
}

func (b *bench) duration() time.Duration { return time.Duration(b.seconds * float64(time.Second)) }

// copyBytes is larger than the caches of most processors.
const copyBytes = 64 << 20

// measureCopy returns how many bytes one core copies in a second. Each byte counts once.
func measureCopy(length time.Duration) float64 {
	from, to := make([]byte, copyBytes), make([]byte, copyBytes)
	copy(from, to) // to allocate all pages
	copy(to, from)
	start, n := time.Now(), 0
	for ; n == 0 || time.Since(start) < length; n++ {
		copy(to, from)
	}
	return float64(n) * copyBytes / time.Since(start).Seconds()
}

// deliveries are the feeds that are measured.
var deliveries = []struct {
	name string
	tensorcache.FeedOptions
}{
	{"rows [B, C, F], shuffled",
		tensorcache.FeedOptions{Order: "shuffle", Delivery: tensorcache.DeliverSlot}},
	{"channels first [B, F, C], shuffled", tensorcache.FeedOptions{Order: "shuffle",
		Delivery: tensorcache.DeliverSlot, ChannelsFirst: true}},
	{"views, random_start",
		tensorcache.FeedOptions{Order: "random_start", Delivery: tensorcache.DeliverView}},
}

func (b *bench) dataset(ctx context.Context, name string, m *benchResult) error {
	c, err := b.connect(inDirectory)
	if err != nil {
		return err
	}
	c.Close()
	cache, err := tensorcache.Connect(ctx, tensorcache.Options{Dir: b.dir, NoStart: true})
	if err != nil {
		return err
	}
	defer cache.Close()
	d, err := cache.Dataset(ctx, name)
	if err != nil {
		return err
	}
	defer d.Close()
	w, err := b.windows(ctx, d)
	if err != nil {
		return err
	}
	m.Dataset, m.Layout, m.Windows, m.BatchSize = name, d.Manifest().Layout, w.Len(), b.batch
	m.Context, m.Prediction = w.Spec().ContextLength, w.Spec().PredictionLength
	for _, way := range deliveries {
		o := way.FeedOptions
		o.BatchSize = b.batch
		p, err := measureFeed(ctx, w, o, b.duration())
		var refused *tensorcache.Error
		switch {
		case errors.As(err, &refused) && refused.Field == "delivery":
			p.Reason = refused.Detail
			if refused.Hint != "" {
				remedy, _, _ := strings.Cut(inHint(refused.Hint), ", or ")
				p.Reason += "; " + remedy
			}
		case err != nil:
			return err
		}
		p.Name, p.Order, p.Ratio = way.name, o.Order, p.BytesPerS/m.CopyBytesPerS
		m.Feeds = append(m.Feeds, p)
	}
	return nil
}

// usualSpecs are tried in this order until the dataset has windows.
var usualSpecs = []window.Spec{{ContextLength: 336, PredictionLength: 96},
	{ContextLength: 96, PredictionLength: 24}, {ContextLength: 24, PredictionLength: 6},
	{ContextLength: 4, PredictionLength: 1}, {ContextLength: 1}}

// unsetLength marks a length that no flag sets.
const unsetLength = -1

// windows returns the windows of the first usual spec that has some, with the lengths that the
// flags set.
func (b *bench) windows(ctx context.Context,
	d *tensorcache.Dataset) (w *tensorcache.Windows, err error) {
	for _, spec := range usualSpecs {
		if b.spec.ContextLength != unsetLength {
			spec.ContextLength = b.spec.ContextLength
		}
		if b.spec.PredictionLength != unsetLength {
			spec.PredictionLength = b.spec.PredictionLength
		}
		if w, err = d.Windows(ctx, spec); !errors.Is(err, tensorcache.NoWindows) {
			break
		}
	}
	return w, err
}

// measureFeed reads batches for this long, after a first batch, for which the ring is allocated.
func measureFeed(ctx context.Context, w *tensorcache.Windows, o tensorcache.FeedOptions,
	length time.Duration) (p feedResult, err error) {
	f, err := tensorcache.NewFeed[float32](ctx, w, o)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var start time.Time
	windows, perWindow := 0, int64(0)
	for start.IsZero() || time.Since(start) < length {
		for batch, err := range f.Epoch(ctx) {
			switch {
			case err != nil:
				return p, err
			case start.IsZero():
				start = time.Now()
				perWindow = valuesPerWindow(batch.Context.Shape) +
					valuesPerWindow(batch.Target.Shape)
				continue
			}
			if windows += batch.Len(); time.Since(start) >= length {
				break
			}
		}
	}
	seconds := time.Since(start).Seconds()
	s, err := f.Stats(ctx)
	if err != nil {
		return p, err
	}
	p.Path, p.WindowsPerS, p.BytesPerS = s.Path, float64(windows)/seconds,
		float64(windows)*float64(perWindow)*4/seconds
	p.WaitShare = s.WaitData.Seconds() / max(s.Pass.Seconds(), 1e-9)
	return p, nil
}

// valuesPerWindow returns how many values of a part one window has.
func valuesPerWindow(shape []int) int64 {
	if len(shape) == 0 {
		return 0
	}
	n := int64(1)
	for _, s := range shape[1:] {
		n *= int64(s)
	}
	return n
}

func writeBenchResult(cmd *cobra.Command, m benchResult) error {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "one core copies %s/s of contiguous memory\n",
		humanize.Bytes(uint64(m.CopyBytesPerS)))
	if m.Dataset == "" {
		return nil
	}
	fmt.Fprintf(out, "%s (layout %s): %s windows of %d and %d rows, %d a batch\n\n", m.Dataset,
		m.Layout, humanize.Comma(m.Windows), m.Context, m.Prediction, m.BatchSize)
	rows := [][]any{{"FEED", "DELIVERED", "WINDOWS/S", "BYTES/S", "RATIO", "WAITS"}}
	var none []string
	for _, p := range m.Feeds {
		if p.Reason != "" {
			none = append(none, p.Name+": "+p.Reason)
			continue
		}
		ratio := fmt.Sprintf("%.2f", p.Ratio)
		if p.Path == "view" {
			ratio = "no copy"
		}
		rows = append(rows, []any{p.Name, pathWords[p.Path], humanize.Comma(int64(p.WindowsPerS)),
			humanize.Bytes(uint64(p.BytesPerS)) + "/s", ratio, percent(p.WaitShare)})
	}
	if err := table(out, rows); err != nil {
		return err
	}
	for _, n := range none {
		printLine(out, "%s", n)
	}
	fmt.Fprintf(out,
		"\nthis is layout %s alone; to compare, load the sources by another name with --layout "+
			"%s\n", m.Layout, otherLayout(m.Layout))
	return nil
}

func otherLayout(kind string) string {
	if kind == layout.Packed {
		return layout.Columns
	}
	return layout.Packed
}
