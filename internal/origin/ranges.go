package origin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Range is the bytes of a file from the first number up to, and without, the second.
type Range [2]int64

// UnmarshalJSON refuses a list that has not two numbers, which encoding/json would accept.
func (r *Range) UnmarshalJSON(b []byte) error {
	var list []int64
	if err := json.Unmarshal(b, &list); err != nil || len(list) != len(r) {
		return fmt.Errorf("origins: ranges: got %.40s, want two whole numbers, [begin, end]", b)
	}
	*r = Range(list)
	return nil
}

// Ranges are ranges of one file, sorted and disjoint. As what is staged, nil is the whole file.
type Ranges []Range

// Bytes returns the number of bytes in the ranges.
func (r Ranges) Bytes() (n int64) {
	for _, x := range r {
		n += x[1] - x[0]
	}
	return n
}

// Contain reports whether all bytes from begin up to end are in the ranges.
func (r Ranges) Contain(begin, end int64) bool {
	if begin >= end {
		return true
	}
	i, _ := slices.BinarySearchFunc(r, begin, func(x Range, at int64) int {
		return cmp.Compare(x[1], at+1) // the first range that ends after begin
	})
	for ; i < len(r) && r[i][0] <= begin; i++ {
		if begin = r[i][1]; begin >= end {
			return true
		}
	}
	return false
}

// Join returns the union of ranges in any order. It also joins ranges that are fewer than gap bytes
// apart.
func Join(ranges []Range, gap int64) Ranges {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b Range) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	out := Ranges{}
	for _, x := range sorted {
		if x[0] >= x[1] {
			continue
		}
		if n := len(out); n > 0 && (x[0] <= out[n-1][1] || x[0]-out[n-1][1] < gap) {
			out[n-1][1] = max(out[n-1][1], x[1])
			continue
		}
		out = append(out, x)
	}
	return out
}

// Without returns the bytes of r that are not in other.
func (r Ranges) Without(other Ranges) Ranges {
	out := Ranges{}
	i := 0
	for _, x := range r {
		for i < len(other) && other[i][1] <= x[0] {
			i++
		}
		for j := i; j < len(other) && other[j][0] < x[1] && x[0] < x[1]; j++ {
			if x[0] < other[j][0] {
				out = append(out, Range{x[0], other[j][0]})
			}
			x[0] = max(x[0], other[j][1])
		}
		if x[0] < x[1] {
			out = append(out, x)
		}
	}
	return out
}
