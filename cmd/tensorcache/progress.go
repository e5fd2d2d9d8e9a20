package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// bar draws a job's progress on a terminal, and nothing anywhere else.
type bar struct {
	out   *os.File
	drawn bool
}

func newBar(w io.Writer) *bar {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &bar{out: f}
	}
	return &bar{}
}

// waitMS is how long to wait for a job's end before drawing again.
func (b *bar) waitMS() string {
	if b.out == nil {
		return "10000"
	}
	return "100"
}

const barWidth = 30

func (b *bar) show(j wire.Job) {
	if b.out == nil {
		return
	}
	full := int(j.Progress * barWidth)
	so := fmt.Sprintf("%s of %s rows", humanize.Comma(j.Rows), humanize.Comma(j.RowsTotal))
	switch {
	case j.State == wire.JobQueued:
		so = "waits for other loads"
	case j.RowsTotal == 0: // they are being counted
		so = humanize.IBytes(uint64(j.Bytes)) + " of " + humanize.IBytes(uint64(j.BytesTotal))
	}
	if j.EtaS != nil {
		so += ", " + left(*j.EtaS)
	}
	fmt.Fprintf(b.out, "\r\x1b[K%s %-7s [%s%s] %3.0f %%  %s", j.Dataset, j.Phase,
		strings.Repeat("#", full), strings.Repeat(".", barWidth-full), j.Progress*100, so)
	b.drawn = true
}

// left says how long something takes yet, no finer than it can be known.
func left(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return "under 1 s left"
	case d < time.Minute:
		return fmt.Sprintf("%.0f s left", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min left", d.Minutes())
	}
	return fmt.Sprintf("%.1f h left", d.Hours())
}

// end clears the line. It is idempotent.
func (b *bar) end() {
	if b.drawn {
		fmt.Fprint(b.out, "\r\x1b[K")
		b.drawn = false
	}
}
