package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// notFound names what was asked for and what is near it.
func (s *Store) notFound(name string) error {
	if len(s.datasets) == 0 {
		return fmt.Errorf("%w: no dataset is named %q; there are none yet", ErrNotFound, name)
	}
	if near := Near(name, slices.Collect(maps.Keys(s.datasets))); len(near) > 0 {
		return fmt.Errorf("%w: no dataset is named %q; near: %s", ErrNotFound, name, strings.Join(near, ", "))
	}
	return fmt.Errorf("%w: no dataset is named %q; there are: %s", ErrNotFound, name, strings.Join(first(slices.Sorted(maps.Keys(s.datasets)), 5), ", "))
}

func first(names []string, n int) []string {
	if len(names) > n {
		return append(slices.Clone(names[:n]), "…")
	}
	return names
}

// Near lists at most three of the names that differ from the one asked for by few letters, nearest first.
func Near(name string, names []string) []string {
	type match struct {
		name     string
		distance int
	}
	var found []match
	for _, n := range names {
		d := distance(strings.ToLower(name), strings.ToLower(n))
		if d <= max(2, len(name)/3) {
			found = append(found, match{n, d})
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, m := range found[:min(3, len(found))] {
		out = append(out, m.name)
	}
	return out
}

// distance is Levenshtein's: the least number of inserted, deleted and changed letters.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j, q := range y {
			cost := diagonal
			if r != q {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
