package jsonl

import (
	"encoding/binary"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
	"github.com/tensorcache/tensorcache/internal/numerals"
)

// maxCells is about the number of values that a parser collects before it writes them. It limits
// the memory for rows that have few of many keys.
const maxCells = 1 << 20

// parser parses spans into the targets. Each worker has its own.
type parser struct {
	file    *file
	keys    []keyParser     // by column of the file, then one for all other keys
	first   gap             // before the first value of a row
	wanted  int             // number of targets
	types   []column.Column // by target, as wide as the values so far need
	widened bool
	buf     []byte
	decoded []byte // the last key or text with escapes
}

// keyParser parses the values of one key. If the key is not wanted, its operation is Skip.
type keyParser struct {
	lines.Values
	last int64 // the last row that has the key, counted as its values; -1 for none
	next gap   // after the value
}

// newParser returns a parser that writes to the targets.
func newParser(f *file, to []source.Target) *parser {
	p := &parser{file: f, keys: make([]keyParser, len(f.names)+1), wanted: len(to)}
	for i, t := range to {
		p.types = append(p.types, t.Column)
		p.keys[t.Index].Values = lines.NewValues(i, t)
	}
	return p
}

// Widened returns the columns of the targets with the types that the values need, nil if the
// targets have them.
func (p *parser) Widened() []column.Column {
	if !p.widened {
		return nil
	}
	p.widened = false
	return slices.Clone(p.types)
}

// ParseSpan parses one span.
func (p *parser) ParseSpan(s source.Span) error {
	buf, end, err := p.file.read(p.buf, s)
	if err != nil {
		return err
	}
	p.buf = buf
	i, atOnce := 0, max(1, maxCells/int64(max(1, p.wanted)))
	for done := int64(0); done < s.Rows; done += atOnce {
		part := source.Span{Row0: s.Row0 + done, Rows: min(atOnce, s.Rows-done)}
		if i, err = p.parseRows(i, end, s, part); err != nil {
			return err
		}
	}
	if nextRow(buf, i, end) != end {
		return p.file.changed()
	}
	return nil
}

// parseRows parses the rows of a part of a span, which begins at i, and writes their values. It
// returns the offset after the last one.
func (p *parser) parseRows(i, end int, s, part source.Span) (next int, err error) {
	for k := range p.keys {
		p.keys[k].BeginSpan(part)
		p.keys[k].last = -1
	}
	for row := range part.Rows {
		if i = nextRow(p.buf, i, end); i == end {
			return i, p.file.changed()
		}
		next, bad := p.parseRow(i, row)
		if bad != nil {
			return i, p.file.rowError(p.buf, i, s, part.Row0+row, bad)
		}
		i = next
	}
	for k := range p.keys {
		p.keys[k].EndSpan(part)
	}
	return i, nil
}

// parseRow parses the row at i. row counts from the first of its part. It returns the offset of the
// next line.
func (p *parser) parseRow(i int, row int64) (next int, bad *fault) {
	buf := p.buf
	found := 0 // targets
	for g := &p.first; ; {
		n := g.key
		if g.matches(buf, i) {
			i += g.length
		} else {
			var done bool
			if n, i, done, bad = p.scanKey(g, i); bad != nil {
				return 0, bad
			}
			if done {
				break
			}
		}
		k := &p.keys[n]
		if k.Op != lines.Skip {
			if k.last == row {
				bad = faultTwice()
				bad.key = p.file.names[n]
				return 0, bad
			}
			k.last = row
			found++
		}
		end, ok := k.parsePlain(buf, i, row)
		if !ok {
			var v value
			i = skipSpace(buf, i) // that the rows before did not have
			if v, end, bad = scanValue(buf, i); bad == nil {
				bad = p.store(k, v, row)
			}
			if bad != nil {
				if n < len(p.file.names) {
					bad.key = p.file.names[n]
				}
				return 0, bad
			}
		}
		if i = end; buf[i] == '}' {
			i++
			break
		}
		g = &k.next
	}
	if found < p.wanted {
		if bad := p.fillMissing(row); bad != nil {
			return 0, bad
		}
	}
	if buf[i] == '\n' {
		return i + 1, nil
	}
	return rowEnd(buf, i)
}

// fillMissing stores missing values in the targets that a row does not have.
func (p *parser) fillMissing(row int64) *fault {
	for n := range p.keys {
		k := &p.keys[n]
		if k.Op == lines.Skip || k.last == row {
			continue
		}
		if bad := p.store(k, value{}, row); bad != nil {
			bad.key = p.file.names[n]
			return bad
		}
	}
	return nil
}

// parsePlain stores the value at i if it is a plain number that fits the column. end is the offset
// after it.
func (k *keyParser) parsePlain(buf []byte, i int, row int64) (end int, ok bool) {
	if k.Op == lines.Skip || k.Op > lines.Item {
		return i, false
	}
	// JSON has no zeros before another digit, and digits before the point.
	c, second := buf[i], buf[i+1]
	if c == '-' {
		c, second = second, buf[i+2]
	}
	if c == '0' && second-'0' <= 9 || c == '.' {
		return i, false
	}
	switch k.Op {
	case lines.Float64:
		v, end, ok := numerals.Float(buf, i, '.')
		if ok {
			k.F64[row] = v
		}
		return end, ok
	case lines.Float32:
		v, end, ok := numerals.Float(buf, i, '.')
		return end, ok && k.SetFloat32(row, v)
	}
	v, end, ok := numerals.Int(buf, i)
	if ok = ok && buf[end] != '.' && buf[end]|0x20 != 'e'; ok {
		k.I64[row] = v
	}
	return end, ok
}

// gap is the bytes between two values, as the last rows had them: a comma, a key and a colon.
type gap struct {
	word, mask uint64 // the first bytes, and ones for them
	rest       []byte // the bytes from the eighth on
	length     int
	key        int // index in parser.keys
}

// maxGap is the largest length of a gap that is compared. Longer ones are scanned.
const maxGap = 1 << 10

// matches reports whether the bytes at i are those of the gap.
func (g *gap) matches(buf []byte, i int) bool {
	return (binary.LittleEndian.Uint64(buf[i:])^g.word)&g.mask == 0 && g.length > 0 &&
		(len(g.rest) == 0 || i+g.length < len(buf) &&
			string(buf[i+8:i+g.length]) == string(g.rest))
}

// set sets the bytes of the gap, which buf begins with.
func (g *gap) set(buf []byte, length, key int) {
	g.length = 0
	if length > maxGap {
		return
	}
	g.length, g.key = length, key
	g.mask = ^uint64(0) >> (64 - 8*min(8, length))
	g.word = binary.LittleEndian.Uint64(buf) & g.mask
	g.rest = append(g.rest[:0], buf[min(8, length):length]...)
}

// scanKey scans the key after the value that ends at i, and sets the gap to it. n is the index of
// the key in p.keys, and at is the offset of its value. If the row ends instead, done is true.
func (p *parser) scanKey(g *gap, i int) (n, at int, done bool, bad *fault) {
	raw, at, done, bad := keyAt(p.buf, i, g == &p.first)
	if bad != nil || done {
		return 0, at, done, bad
	}
	key, grown, ok := raw.decoded(p.decoded)
	if p.decoded = grown; !ok {
		return 0, at, false, faultSurrogate()
	}
	if n, ok = p.file.index[string(key)]; !ok {
		if n = len(p.file.names); !p.file.selected {
			return 0, at, false, faultNew(string(key))
		}
	}
	g.set(p.buf[i:], at-i, n)
	return n, at, false, nil
}
