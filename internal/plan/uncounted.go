package plan

import (
	"fmt"
	"slices"
	"sort"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/window"
)

// uncounted warns of the columns of known and static that are NaN in some window, which max_missing
// does not count. There are no warnings if the spec admits missing values, or says what stands for
// them.
func (w *Windows) uncounted() (out []wire.Warning, err error) {
	spec := w.Index.Spec()
	if spec.MaxMissing != (window.MaxMissing{}) || spec.MissingValue != nil {
		return nil, nil
	}
	for _, part := range w.parts {
		if part.Of != Known && part.Of != Static {
			continue
		}
		for _, c := range part.Columns {
			missing, err := missingRows(w.Handle, c)
			if err != nil {
				return nil, err
			}
			warning := uncountedWarning(c, part.Of) // two parts of known may have the column
			if !slices.Contains(out, warning) && w.delivers(part, missing) {
				out = append(out, warning)
			}
		}
	}
	return out, nil
}

func uncountedWarning(c *layout.ManifestColumn, part string) wire.Warning {
	return wire.Warning{
		Field: "max_missing",
		Detail: fmt.Sprintf("column %q is NaN in the %s part of some windows: `max_missing` counts "+
			"context and target alone", c.Name, part),
		Hint: "fill the column at the load with `fill`, or say with `missing_value=0` what stands " +
			"for missing values",
	}
}

// delivers reports whether any window has one of these rows, in ascending order, in a part. A static
// part is that of the first row of the item.
func (w *Windows) delivers(part Part, missing []window.MissingRow) bool {
	spec := w.Index.Spec()
	stride, dilation := max(spec.Stride, 1), max(spec.Dilation, 1)
	for _, run := range w.Index.Runs() {
		if len(missing) == 0 {
			return false
		}
		offset := w.Offsets[run.Item]
		first, last := offset+run.First+part.First*dilation, offset
		if part.Of != Static {
			last = first + (run.Count-1)*stride + (part.Length-1)*dilation
		}
		from := max(first, offset+w.Index.FirstRow(run.Item)) // samples before it are padding
		at := sort.Search(len(missing), func(i int) bool { return missing[i].Row >= offset })
		missing = missing[at:]
		if part.Of == Static {
			if len(missing) > 0 && missing[0].Row == offset {
				return true
			}
			continue
		}
		at = sort.Search(len(missing), func(i int) bool { return missing[i].Row >= from })
		for ; at < len(missing) && missing[at].Row <= last; at++ {
			if isSampled(missing[at].Row-first, run.Count, part.Length, stride, dilation) {
				return true
			}
		}
	}
	return false
}

// gcd returns the greatest common divisor of two positive numbers.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// isSampled reports whether row = n·stride + i·dilation for any 0 ≤ n < count and 0 ≤ i < length.
func isSampled(row, count, length, stride, dilation int64) bool {
	if row%gcd(stride, dilation) != 0 {
		return false
	}
	// the windows whose samples reach the row; their starts repeat modulo dilation
	n := max(0, (row-(length-1)*dilation+stride-1)/stride)
	for last := min(row/stride, count-1, n+dilation-1); n <= last; n++ {
		if (row-n*stride)%dilation == 0 {
			return true
		}
	}
	return false
}
