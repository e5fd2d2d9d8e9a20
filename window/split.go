package window

import (
	"fmt"
	"math"
	"strconv"
)

// Split divides an index into parts. Exactly one of Lengths, Fractions, AtTimes and Items is set.
type Split struct {
	Lengths   []*int64    // rows per item; one may be nil, for the rest
	Fractions []*float64  // of an item's rows; one may be nil, for the rest
	AtTimes   []TimeValue // k bounds of k+1 parts, in ascending order
	Items     *ItemParts
	Purge     int64 // rows before each later part that belong to no part
	// ContextBeforeSplit allows context rows before the first row of a part. nil means true.
	ContextBeforeSplit *bool
	Names              []string // one per part, or nil; they change no window
}

// ItemParts divides items into parts by lists of item numbers, or by fractions of a fixed hash. In
// JSON it is [[0, 1], [2]] or [0.8, 0.2].
type ItemParts struct {
	Lists     [][]int64
	Fractions []*float64
}

// maxParts is the largest number of parts. Each part is an index of its own, and making it takes
// time in proportion to all parts.
const maxParts = 1000

// Parts returns the number of parts, from 2 to 1000. It returns a *SpecError if the split is
// invalid.
func (s *Split) Parts() (int, error) {
	var given []string
	var by splitMethod
	for _, w := range s.methods() {
		if w.given {
			given, by = append(given, w.field), w
		}
	}
	if len(given) != 1 {
		got := Missing
		if len(given) > 1 {
			got = mustJSON(given)
		}
		return 0, &SpecError{"split", got, "one of lengths, fractions, at_times and items"}
	}
	if err := s.validate(); err != nil {
		return 0, err
	}
	n := by.parts
	if n < 2 {
		return 0, &SpecError{by.field, shorten([]byte(mustJSON(by.value))),
			"at least two parts; where keeps one"}
	}
	if n > maxParts {
		return 0, &SpecError{by.field, "", fmt.Sprintf("at most %d parts, not %d", maxParts, n)}
	}
	if s.Names != nil {
		return n, s.validateNames(n)
	}
	return n, nil
}

// splitMethod is one of the fields that say how to split.
type splitMethod struct {
	field string
	given bool
	parts int
	value any
}

func (s *Split) methods() [4]splitMethod {
	return [4]splitMethod{
		{"lengths", s.Lengths != nil, len(s.Lengths), s.Lengths},
		{"fractions", s.Fractions != nil, len(s.Fractions), s.Fractions},
		{"at_times", s.AtTimes != nil, len(s.AtTimes) + 1, s.AtTimes},
		{"items", s.Items != nil, s.Items.parts(), s.Items},
	}
}

// Field returns the name of the field that says how to split: lengths, fractions, at_times or
// items.
func (s *Split) Field() string {
	for _, w := range s.methods() {
		if w.given {
			return w.field
		}
	}
	return "split"
}

func (s *Split) validate() error {
	rest := 0
	for i, l := range s.Lengths {
		if l == nil {
			rest++
		} else if *l < 1 {
			return &SpecError{fmt.Sprintf("lengths[%d]", i), strconv.FormatInt(*l, 10),
				"a whole number from 1, or null for the rest"}
		}
	}
	if rest > 1 {
		return &SpecError{"lengths", shorten([]byte(mustJSON(s.Lengths))), "null at most once"}
	}
	if err := validateFractions("fractions", s.Fractions); err != nil {
		return err
	}
	for i := 1; i < len(s.AtTimes); i++ {
		if a, b := s.AtTimes[i-1], s.AtTimes[i]; a.instant == b.instant && a.local == b.local &&
			!a.before(b) {
			return &SpecError{fmt.Sprintf("at_times[%d]", i), b.String(),
				"a time after " + a.String()}
		}
	}
	if err := s.Items.validate(); err != nil {
		return err
	}
	switch {
	case s.Purge < 0 || s.Purge > maxLength:
		return &SpecError{"purge", strconv.FormatInt(s.Purge, 10),
			lengthAllowed(0)}
	case s.Purge > 0 && s.Items != nil:
		return &SpecError{"purge", strconv.FormatInt(s.Purge, 10),
			"0, because items are split and not rows"}
	}
	return nil
}

func (s *Split) validateNames(n int) error {
	if len(s.Names) != n {
		return &SpecError{"names", shorten([]byte(mustJSON(s.Names))),
			fmt.Sprintf("one for each of the %d parts", n)}
	}
	seen := make(map[string]bool, n)
	for _, name := range s.Names {
		if name == "" || seen[name] {
			return &SpecError{"names", strconv.Quote(name), "names that are not empty, each once"}
		}
		seen[name] = true
	}
	return nil
}

func validateFractions(field string, fractions []*float64) error {
	sum, rest := 0.0, 0
	for i, f := range fractions {
		switch {
		case f == nil:
			rest++
		case !(*f > 0 && *f <= 1):
			return &SpecError{fmt.Sprintf("%s[%d]", field, i), fmt.Sprint(*f),
				"a share above 0, at most 1, or null for the rest"}
		default:
			sum += *f
		}
	}
	switch {
	case rest > 1:
		return &SpecError{field, shorten([]byte(mustJSON(fractions))), "null at most once"}
	case sum > 1+1e-9:
		return &SpecError{field, shorten([]byte(mustJSON(fractions))),
			fmt.Sprintf("a sum of at most 1, not %.9g", sum)}
	case rest > 0 && sum > 1-1e-9:
		return &SpecError{field, shorten([]byte(mustJSON(fractions))),
			"a sum below 1, because null takes the rest"}
	}
	return nil
}

func (p *ItemParts) parts() int {
	if p == nil {
		return 0
	}
	return len(p.Lists) + len(p.Fractions)
}

func (p *ItemParts) validate() error {
	if p == nil {
		return nil
	}
	if p.Lists != nil && p.Fractions != nil {
		return &SpecError{"items", "", "lists of item numbers or fractions, not both"}
	}
	part := make(map[int64]int)
	for i, list := range p.Lists {
		for _, item := range list {
			if other, ok := part[item]; ok {
				return &SpecError{fmt.Sprintf("items[%d]", i), strconv.FormatInt(item, 10),
					fmt.Sprintf("items once, in one part only; it is in part %d", other)}
			}
			part[item] = i
		}
	}
	return validateFractions("items", p.Fractions)
}

// floorShare returns ⌊n·f + 1e-9⌋ in float64, without a fused multiply-add.
func floorShare(n int64, f float64) int64 {
	product := float64(float64(n) * f)
	return min(n, int64(math.Floor(product+1e-9)))
}

// ParseSplit reads a split from JSON. It refuses unknown fields.
func ParseSplit(data []byte) (Split, error) { return readSplit("split", data) }

func readSplit(field string, raw []byte) (s Split, err error) {
	err = readObject(raw, field, []objectField{
		into(&s.Lengths, "lengths", readLengths),
		into(&s.Fractions, "fractions", readFractions),
		into(&s.AtTimes, "at_times", readTimes),
		into(&s.Items, "items", orNull(readItemParts)),
		into(&s.Purge, "purge", readInt),
		into(&s.ContextBeforeSplit, "context_before_split", orNull(readBool)),
		into(&s.Names, "names", readNames),
	})
	if err != nil {
		return Split{}, err
	}
	_, err = s.Parts()
	return s, err
}

func readLengths(field string, raw []byte) ([]*int64, error) {
	return readList(field, raw, orNull(readInt))
}

func readFractions(field string, raw []byte) ([]*float64, error) {
	return readList(field, raw, orNull(readFloat))
}

func readTimes(field string, raw []byte) ([]TimeValue, error) {
	return readList(field, raw, readTimeValue)
}

func readItemParts(field string, raw []byte) (p ItemParts, err error) {
	if p.Fractions, err = readFractions(field, raw); err == nil {
		return p, nil
	}
	p.Fractions = nil
	if p.Lists, err = readList(field, raw, notNull(readItems)); err != nil {
		return p, &SpecError{field, shorten(raw),
			"lists of item numbers like [[0, 1], [2]], or fractions like [0.8, 0.2]"}
	}
	return p, nil
}

// UnmarshalJSON is [ParseSplit].
func (s *Split) UnmarshalJSON(data []byte) (err error) {
	*s, err = ParseSplit(data)
	return err
}

// MarshalJSON writes the canonical form: fields in a fixed order, without defaults.
func (s Split) MarshalJSON() ([]byte, error) {
	var w objectWriter
	if s.Lengths != nil {
		w.marshal("lengths", s.Lengths)
	}
	if s.Fractions != nil {
		w.marshal("fractions", s.Fractions)
	}
	if s.AtTimes != nil {
		w.marshal("at_times", s.AtTimes)
	}
	if s.Items != nil {
		w.marshal("items", s.Items)
	}
	if s.Purge != 0 {
		w.put("purge", strconv.FormatInt(s.Purge, 10))
	}
	if nilUnlessFalse(s.ContextBeforeSplit) != nil {
		w.put("context_before_split", "false")
	}
	if s.Names != nil {
		w.marshal("names", s.Names)
	}
	return w.bytes()
}

// MarshalJSON writes the lists or the fractions.
func (p ItemParts) MarshalJSON() ([]byte, error) {
	if p.Lists != nil {
		lists := make([][]int64, len(p.Lists))
		for i, l := range p.Lists {
			lists[i] = append([]int64{}, l...)
		}
		return []byte(mustJSON(lists)), nil
	}
	return []byte(mustJSON(p.Fractions)), nil
}
