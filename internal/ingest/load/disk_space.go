package load

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// checkSpace refuses a load for which the directory has no space.
func (l *load) checkSpace() error {
	need, have := l.need(), l.freeSpace(l.Dir)
	if have < 0 || need <= have {
		l.meter.AnnounceSpace(need)
		return nil
	}
	return &loaderr.NoSpaceError{
		Dir: l.Dir, Need: need, Have: have,
		Text: "the result and its temporary files" + l.largestSource(),
	}
}

// largestSource returns a text that names the source with the most rows. It adds that the file may
// be damaged if it has more rows than bytes.
func (l *load) largestSource() string {
	most := slices.MaxFunc(l.readers,
		func(a, b source.Reader) int { return cmp.Compare(a.Rows(), b.Rows()) })
	file := most.Path()
	if file == "" { // a put
		return ""
	}
	text := fmt.Sprintf(", with the %d rows of %s", most.Rows(), file)
	if st, err := l.Options.AllowedRoots.StatFile(file); err == nil && st.Size() < most.Rows() {
		text += ": they lie in " + humanize.IBytes(uint64(st.Size())) + ", the file may be damaged"
	}
	return text
}

// explainFull adds to an error of a full disk the space that the load needs, and the free space.
func (l *load) explainFull(err error) error {
	if !files.IsFull(err) {
		return err
	}
	if e := (*loaderr.NoSpaceError)(nil); errors.As(err, &e) {
		return err
	}
	return &loaderr.NoSpaceError{Dir: l.Dir, Need: l.need(), Have: max(0, l.freeSpace(l.Dir)),
		Text: err.Error()}
}

// need returns about the greatest number of bytes that the load takes in the cache directory: the
// result, scratch, and the scratch of sorting.
func (l *load) need() int64 {
	var row, widest int64
	for i, c := range l.columns {
		p := l.plans[i]
		size := p.stored.DType.Size() * max(1, c.Width)
		widest = max(widest, size)
		row += size
		if p.inScratch {
			size := p.readAs.DType.Size() * max(1, p.readAs.Width)
			row += size
			widest = max(widest, size)
		}
	}
	for _, c := range l.CalendarLayout() {
		row += c.DType.Size()
	}
	if l.Sort && l.rowOrder == nil { // later, the scratch exists
		row += 16 + widest
	}
	if row > 0 && l.rows > math.MaxInt64/2/row { // the file may be damaged
		return math.MaxInt64 / 2
	}
	return l.rows*row + 1<<16
}
