package main

import (
	"fmt"
	"io"
	"os"
	"strings"

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
	share := 0.0
	if j.RowsTotal > 0 {
		share = min(1, float64(j.Rows)/float64(j.RowsTotal))
	} else if j.BytesTotal > 0 {
		share = min(1, float64(j.Bytes)/float64(j.BytesTotal))
	}
	full := int(share * barWidth)
	so := fmt.Sprintf("%s of %s rows", humanize.Comma(j.Rows), humanize.Comma(j.RowsTotal))
	if j.RowsTotal == 0 { // they are being counted
		so = humanize.IBytes(uint64(j.Bytes)) + " of " + humanize.IBytes(uint64(j.BytesTotal))
	}
	fmt.Fprintf(b.out, "\r\x1b[K%s %-6s [%s%s] %3.0f %%  %s", j.Dataset, j.Phase, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), share*100, so)
	b.drawn = true
}

// end clears the line. It is idempotent.
func (b *bar) end() {
	if b.drawn {
		fmt.Fprint(b.out, "\r\x1b[K")
		b.drawn = false
	}
}
