package step

import (
	"fmt"
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// log1p takes log(1 + value). It refuses values of -1 and below.
type log1p struct {
	stepDefaults
	run *columnRun
}

func newLog1p(r *columnRun, _ option.Setting) Step { return &log1p{run: r} }

func (l *log1p) apply(to, from []float64, row int64) error {
	for i, v := range from {
		if v <= -1 {
			return l.run.refuse(row+int64(i),
				fmt.Sprintf("log1p needs values above -1, this is %v", v),
				"clip the column first with "+
					loaderr.ColumnOption("clip", l.run.Column.Name, []any{0, nil}))
		}
		to[i] = math.Log1p(v)
	}
	return nil
}

func (l *log1p) resume(_ series, last float64) float64 { return math.Expm1(last) }

func (l *log1p) record(r *Result) { r.prepared().Log1p = true }

func describeLog1p(c *layout.ManifestColumn) string {
	if c.Prepared == nil || !c.Prepared.Log1p {
		return ""
	}
	return "log1p"
}
