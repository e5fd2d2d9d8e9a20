package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// minInterval limits the load that top causes in the daemon.
const minInterval = 50 * time.Millisecond

func newTop(o *options) *cobra.Command {
	t := &top{options: o}
	cmd := &cobra.Command{
		Use: "top", Short: "watch feeds, jobs and memory", Args: cobra.NoArgs,
		Long: `Watch the trainers' feeds, the jobs that run and what of the datasets is in
memory. On a terminal top fills the screen until q is pressed; elsewhere it
prints lines, and with --json one object a tick.

WAITS is the share of its passes that a trainer waited for data; IDLE the share
of the feed's life that the daemon waited for the trainer. No daemon is started.`,
		Example: "  tensorcache top --count 1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if t.interval < minInterval {
				return usageError{fmt.Errorf("--interval: got %s, want %s or more", t.interval,
					minInterval)}
			}
			if t.count < 0 {
				return usageError{fmt.Errorf(
					"--count: got %d, want 1 or more, or 0 for no end", t.count)}
			}
			return t.run(cmd)
		},
	}
	jsonFlag(cmd, &t.asJSON)
	cmd.Flags().DurationVar(&t.interval, "interval", time.Second, "look again after this `time`")
	cmd.Flags().IntVar(&t.count, "count", 0, "end after this `number` of looks, 0 for never")
	return cmd
}

type top struct {
	*options
	interval time.Duration
	count    int
	asJSON   bool
}

// snapshot is what top shows at one time.
type snapshot struct {
	Time     time.Time      `json:"time"`
	Machine  wire.Machine   `json:"machine"`
	Datasets []wire.Dataset `json:"datasets"`
	Feeds    []feedRate     `json:"feeds"`
	Jobs     []wire.Job     `json:"jobs"` // running and queued ones
}

// feedRate is a feed and its speed.
type feedRate struct {
	wire.Feed
	// BatchesPerS is the rate since the last snapshot; in the first one, since the feed was
	// attached.
	BatchesPerS float64 `json:"batches_per_s"`
}

// run takes and shows snapshots until the count is reached or the command is interrupted.
func (t *top) run(cmd *cobra.Command) (err error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := t.connect(ifRunning)
	if err != nil {
		return err
	}
	defer c.Close()
	show, end, err := t.view(cmd, stop)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	tick := time.NewTicker(t.interval)
	defer tick.Stop()
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	var last *snapshot
	for n := 1; ; n++ {
		now, err := takeSnapshot(ctx, c, last)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := show(now); err != nil {
			return ignoreBrokenPipe(err)
		}
		if last = now; n == t.count {
			return nil
		}
		for waits := true; waits; {
			select {
			case <-ctx.Done():
				return nil
			case <-resized:
				if err := show(now); err != nil {
					return ignoreBrokenPipe(err)
				}
			case <-tick.C:
				waits = false
			}
		}
	}
}

// ignoreBrokenPipe returns nil if the reader has closed the pipe.
func ignoreBrokenPipe(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// takeSnapshot requests everything that is shown.
func takeSnapshot(ctx context.Context, c *control.Client, last *snapshot) (*snapshot, error) {
	l := &snapshot{Time: time.Now(), Feeds: []feedRate{}, Jobs: []wire.Job{}}
	if err := c.Get(ctx, "/v1/machine", &l.Machine); err != nil {
		return nil, err
	}
	var err error
	if l.Datasets, err = control.List[wire.Datasets](ctx, c, "/v1/datasets"); err != nil {
		return nil, err
	}
	feeds, err := control.List[wire.Feeds](ctx, c, "/v1/feeds")
	if err != nil {
		return nil, err
	}
	for _, f := range feeds {
		l.Feeds = append(l.Feeds, feedRate{f, batchRate(f, l.Time, last)})
	}
	for _, state := range []string{wire.JobRunning, wire.JobQueued} {
		jobs, err := listJobs(ctx, c, state, "")
		if err != nil {
			return nil, err
		}
		l.Jobs = append(l.Jobs, jobs...)
	}
	return l, nil
}

// batchRate returns the batches per second of a feed.
func batchRate(f wire.Feed, now time.Time, last *snapshot) float64 {
	batches, seconds := f.Batches, f.Seconds
	if last != nil {
		for _, before := range last.Feeds {
			if before.Feed.Feed == f.Feed {
				batches, seconds = f.Batches-before.Batches, now.Sub(last.Time).Seconds()
			}
		}
	}
	return float64(batches) / max(seconds, 1e-9)
}

// view returns functions that show a snapshot, as JSON, on the whole terminal or as lines, and end
// that.
func (t *top) view(cmd *cobra.Command, quit func()) (show func(*snapshot) error,
	end func() error, err error) {
	out := cmd.OutOrStdout()
	if t.asJSON {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		return func(l *snapshot) error { return e.Encode(l) }, func() error { return nil }, nil
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s, err := newScreen(f, os.Stdin, quit)
		if err != nil {
			return nil, nil, err
		}
		return func(l *snapshot) error {
			return s.draw(
				func(w io.Writer) error { return writeSnapshot(w, l) })
		}, s.restore, nil
	}
	return func(l *snapshot) error { return writeSnapshot(out, l) },
		func() error { return nil }, nil
}
