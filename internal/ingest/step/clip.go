package step

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// clip replaces values beyond a bound by the bound.
type clip struct {
	stepDefaults
	option.Clip
}

func newClip(_ *columnRun, s option.Setting) Step { return &clip{Clip: s.(option.Clip)} }

func (c *clip) apply(to, from []float64, _ int64) error {
	low, high := math.Inf(-1), math.Inf(1)
	if c.HasLow {
		low = c.Low
	}
	if c.HasHigh {
		high = c.High
	}
	for i, v := range from {
		if v < low {
			v = low
		}
		if v > high {
			v = high
		}
		to[i] = v
	}
	return nil
}

func (c *clip) record(r *Result) {
	p := r.prepared()
	if c.HasLow {
		p.ClipLow = &c.Low
	}
	if c.HasHigh {
		p.ClipHigh = &c.High
	}
}

func describeClip(c *layout.ManifestColumn) string {
	p := c.Prepared
	if p == nil || p.ClipLow == nil && p.ClipHigh == nil {
		return ""
	}
	bound := func(v *float64) string {
		switch {
		case v == nil:
			return ""
		case *v == math.Trunc(*v) && math.Abs(*v) < 1<<64:
			return strconv.FormatFloat(*v, 'f', 0, 64)
		}
		return fmt.Sprint(*v)
	}
	return "clip " + bound(p.ClipLow) + ":" + bound(p.ClipHigh)
}
