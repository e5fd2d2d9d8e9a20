package jsonl

import (
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// store stores any value in a row of the span. If the value needs another type, it widens the type
// of the column, or returns a fault.
func (p *parser) store(k *keyParser, v value, row int64) *fault {
	switch k.Op {
	case lines.Skip:
		return nil
	case lines.Text:
		return p.storeText(k, v, row)
	case lines.Float64, lines.Float32:
		x := column.NaN
		if v.kind == integer || v.kind == decimal {
			var ok bool
			if x, ok = floatOf(v); !ok {
				break // widen refuses it
			}
		} else if v.kind != null {
			break
		}
		if k.Op == lines.Float64 {
			k.F64[row] = x
		} else if !k.SetFloat32(row, x) {
			return refused(v, "does not fit float32", column.HintWider)
		}
		return nil
	case lines.Int64, lines.Item:
		if v.kind == integer {
			if x, ok := textvalue.ParseInt(v.raw); ok {
				k.I64[row] = x
				return nil
			}
		}
	case lines.Time:
		if c := p.types[k.Target]; v.kind == text {
			if t, ok := timeOf(v); ok && t.Unit <= k.Unit && t.Zoned == (c.Zone != "") {
				if k.I64[row], ok = t.In(k.Unit); !ok {
					return refused(v, "does not fit 64 bits of "+c.Unit, "correct the time")
				}
				return nil
			}
		}
	case lines.Bool, lines.BoolFloat:
		if v.kind == boolean {
			k.SetBool(row, v.raw[0] == 't')
			return nil
		}
		if v.kind == null && k.Op.StoresMissing() {
			k.F64[row] = column.NaN
			return nil
		}
	}
	return p.widen(k, v)
}

// widen widens the type of a column for a value. The rest of the pass only checks the values of
// this column and stores nothing.
func (p *parser) widen(k *keyParser, v value) *fault {
	wider, bad := widen(p.types[k.Target], v, k.Role)
	if bad == nil && wider != p.types[k.Target] {
		p.types[k.Target], p.widened, k.Op = wider, true, lines.Check
	}
	return bad
}

// storeText stores the dictionary code of a text. A missing text has the code -1.
func (p *parser) storeText(k *keyParser, v value, row int64) *fault {
	if v.kind == text && k.SetTextAgain(row, v.raw) {
		return nil
	}
	if bad := p.widen(k, v); bad != nil {
		return bad
	}
	if v.kind == null {
		k.I32[row] = -1
		return nil
	}
	b, grown, ok := v.decoded(p.decoded)
	if p.decoded = grown; !ok {
		return faultSurrogate()
	}
	k.SetText(row, v.raw, b)
	return nil
}
