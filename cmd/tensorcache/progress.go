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

// progressBar shows the progress of a job on a terminal. On anything else it shows nothing.
type progressBar struct {
	out     *os.File
	isDrawn bool
}

func newProgressBar(w io.Writer) *progressBar {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &progressBar{out: f}
	}
	return &progressBar{}
}

// waitMS returns how long to wait for the job until the bar is drawn again.
func (b *progressBar) waitMS() string {
	if b.out == nil {
		return "10000"
	}
	return "100"
}

const barWidth = 30

func (b *progressBar) show(j wire.Job) {
	if b.out == nil {
		return
	}
	text := fmt.Sprintf("%s of %s rows", humanize.Comma(j.Rows), humanize.Comma(j.RowsTotal))
	switch {
	case j.State == wire.JobQueued:
		text = "waits for other loads"
	case j.RowsTotal == 0: // the rows are being counted
		text = humanize.IBytes(uint64(j.Bytes)) + " of " + humanize.IBytes(uint64(j.BytesTotal))
	}
	if j.EtaS != nil {
		text += ", " + formatRemaining(*j.EtaS)
	}
	b.draw(j.Dataset, j.Phase, j.Progress, text)
}

// fetchInterval is the time between two updates while bytes of URLs are copied.
const fetchInterval = 100 * time.Millisecond

// fetching returns a function that shows how many bytes of URLs were copied, nil if nothing is
// shown.
func (b *progressBar) fetching(dataset string) func(done, total int64) {
	if b.out == nil {
		return nil
	}
	var last time.Time
	return func(done, total int64) {
		if time.Since(last) < fetchInterval && done < total {
			return
		}
		last = time.Now()
		share := float64(done) / float64(max(total, 1))
		b.draw(dataset, "fetch", share, humanize.IBytes(uint64(done))+" of "+
			humanize.IBytes(uint64(total)))
	}
}

// draw draws the line.
func (b *progressBar) draw(dataset, phase string, share float64, text string) {
	filled := int(share * barWidth)
	fmt.Fprintf(b.out, "\r\x1b[K%s %-7s [%s%s] %3.0f %%  %s", dataset, phase,
		strings.Repeat("#", filled), strings.Repeat(".", barWidth-filled), share*100, text)
	b.isDrawn = true
}

// formatRemaining formats a remaining time, as precisely as it can be known.
func formatRemaining(seconds float64) string {
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

// clear clears the line. It is idempotent.
func (b *progressBar) clear() {
	if b.isDrawn {
		fmt.Fprint(b.out, "\r\x1b[K")
		b.isDrawn = false
	}
}
