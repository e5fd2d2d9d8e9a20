package window

import (
	"fmt"
	"strconv"
)

// Cut is one step that narrows an index. Exactly one of Where, Split and Latest is set. In JSON it
// is one of:
//
//	{"where": {...}, "context_before_split": false}
//	{"split": {...}, "part": 1}
//	{"latest": true}
type Cut struct {
	Where  *Where
	Split  *Split
	Part   int // number of the part of Split, from 0
	Latest bool
}

// Where keeps the windows whose prediction rows meet all conditions.
type Where struct {
	Rows  *Bounds     // rows of the whole item
	Time  *TimeBounds // the same by time
	Items []int64     // item numbers, in any order
	// ContextBeforeSplit allows context rows before the first row that Where keeps. nil means true.
	// In JSON it is a field of the cut, beside "where".
	ContextBeforeSplit *bool
}

// Where returns the index of the windows that w keeps.
func (x *Index) Where(w Where) (*Index, error) {
	c := Cut{Where: &w}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return x.cut(c)
}

// Split returns the parts of a split, in order. They share no prediction row.
func (x *Index) Split(s Split) ([]*Index, error) {
	n, err := s.Parts()
	if err != nil {
		return nil, err
	}
	parts := make([]*Index, n)
	for i := range parts {
		if parts[i], err = x.cut(Cut{Split: &s, Part: i}); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// Latest returns the index that has, for each item, the one window whose context ends at the item's
// last row with a value in a target column. Its windows have no target. Latest returns a
// [SpecError] if the spec has known columns and an item has too few rows after the context.
func (x *Index) Latest() (*Index, error) { return x.cut(Cut{Latest: true}) }

// cut applies one more cut, which is valid.
func (x *Index) cut(c Cut) (*Index, error) { return newIndex(x.subset.base, append(x.Cuts(), c)) }

// Validate returns a *SpecError if the cut is invalid.
func (c Cut) Validate() error {
	switch {
	case c.Where != nil && c.Split == nil && !c.Latest && c.Part == 0:
		return c.Where.validate()
	case c.Split != nil && c.Where == nil && !c.Latest:
		n, err := c.Split.Parts()
		if err == nil && (c.Part < 0 || c.Part >= n) {
			err = &SpecError{"part", strconv.Itoa(c.Part), fmt.Sprintf("a part from 0 to %d", n-1)}
		}
		return err
	case c.Latest && c.Where == nil && c.Split == nil && c.Part == 0:
		return nil
	}
	return &SpecError{"cut", c.kind(), `one of "where", "split" with "part", and "latest"`}
}

func (c Cut) kind() string {
	return fmt.Sprintf(`{"where": %t, "split": %t, "part": %d, "latest": %t}`, c.Where != nil,
		c.Split != nil, c.Part, c.Latest)
}

func (w *Where) validate() error {
	if w.Rows == nil && w.Time == nil && w.Items == nil {
		return &SpecError{"where", "{}", "rows, time or items"}
	}
	if err := w.Rows.validate("rows"); err != nil {
		return err
	}
	return w.Time.validate("time")
}

// canonical returns the cut without fields that change no window: names, and a context_before_split
// that is true.
func (c Cut) canonical() Cut {
	if c.Where != nil {
		w := *c.Where
		w.ContextBeforeSplit = nilUnlessFalse(w.ContextBeforeSplit)
		w.Items = append([]int64(nil), w.Items...)
		if c.Where.Items != nil && w.Items == nil {
			w.Items = []int64{}
		}
		c.Where = &w
	}
	if c.Split != nil {
		s := *c.Split
		s.ContextBeforeSplit, s.Names = nilUnlessFalse(s.ContextBeforeSplit), nil
		c.Split = &s
	}
	return c
}

// nilUnlessFalse returns nil instead of a pointer to true.
func nilUnlessFalse(b *bool) *bool {
	if trueOrNil(b) {
		return nil
	}
	return b
}

func trueOrNil(b *bool) bool { return b == nil || *b }

// UnmarshalJSON reads a cut. It refuses unknown fields.
func (c *Cut) UnmarshalJSON(data []byte) (err error) {
	*c, err = readCut("cut", data)
	return err
}

func readCut(field string, raw []byte) (c Cut, err error) {
	var before *bool
	part := int64(0)
	err = readObject(raw, field, []objectField{
		into(&c.Where, "where", orNull(readWhere)),
		into(&c.Split, "split", orNull(readSplit)),
		into(&part, "part", readInt),
		into(&c.Latest, "latest", readBool),
		into(&before, "context_before_split", orNull(readBool)),
	})
	if err != nil {
		return Cut{}, err
	}
	if before != nil {
		if c.Where == nil {
			return Cut{},
				&SpecError{field, "context_before_split", `it beside "where", or inside "split"`}
		}
		c.Where.ContextBeforeSplit = before
	}
	c.Part = int(part)
	return c, c.Validate()
}

// MarshalJSON writes the canonical form.
func (c Cut) MarshalJSON() ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.canonical()
	var w objectWriter
	switch {
	case c.Where != nil:
		w.marshal("where", *c.Where)
		if c.Where.ContextBeforeSplit != nil {
			w.put("context_before_split", "false")
		}
	case c.Split != nil:
		w.marshal("split", *c.Split)
		w.put("part", strconv.Itoa(c.Part))
	default:
		w.put("latest", "true")
	}
	return w.bytes()
}

// ParseWhere reads {"rows": [a, b], "time": [a, b], "items": [0, 2]}. Each field is optional.
func ParseWhere(data []byte) (Where, error) {
	w, err := readWhere("where", data)
	if err != nil {
		return Where{}, err
	}
	return w, w.validate()
}

func readWhere(field string, raw []byte) (w Where, err error) {
	err = readObject(raw, field, []objectField{
		into(&w.Rows, "rows", orNull(readBounds)),
		into(&w.Time, "time", orNull(readTimeBounds)),
		into(&w.Items, "items", readItems),
	})
	return w, err
}

func readItems(field string, raw []byte) ([]int64, error) { return readList(field, raw, readInt) }

// UnmarshalJSON is [ParseWhere].
func (w *Where) UnmarshalJSON(data []byte) (err error) {
	*w, err = ParseWhere(data)
	return err
}

// MarshalJSON writes the conditions that are set. ContextBeforeSplit is written by
// [Cut.MarshalJSON].
func (w Where) MarshalJSON() ([]byte, error) {
	var d objectWriter
	if w.Rows != nil {
		d.marshal("rows", w.Rows)
	}
	if w.Time != nil {
		d.marshal("time", w.Time)
	}
	if w.Items != nil {
		d.put("items", mustJSON(w.Items))
	}
	return d.bytes()
}
