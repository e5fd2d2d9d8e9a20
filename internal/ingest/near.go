package ingest

import (
	"cmp"
	"slices"
	"strings"
)

// near lists the names that somebody who wrote name may have meant, nearest first, at most five.
func near(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, n := range names {
		d := levenshtein(strings.ToLower(name), strings.ToLower(n))
		if d <= max(2, len(name)/3) || strings.Contains(strings.ToLower(n), strings.ToLower(name)) {
			found = append(found, candidate{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	out := make([]string, 0, 5)
	for _, c := range found[:min(len(found), 5)] {
		out = append(out, c.name)
	}
	return out
}

// levenshtein is the number of runes to insert, delete or replace to make b of a.
func levenshtein(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		last := row[0]
		row[0] = i + 1
		for j, s := range y {
			change := last
			if r != s {
				change++
			}
			last = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
