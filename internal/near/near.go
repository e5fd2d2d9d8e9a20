// Package near finds the names that somebody who mistyped one may have meant.
package near

import (
	"cmp"
	"slices"
	"strings"
)

// most is how many names a message lists.
const most = 5

// Names lists those that differ from the name asked for by few letters or hold it, nearest first.
func Names(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	asked, few := strings.ToLower(name), max(1, min(2, len(name)-1), len(name)/3)
	for _, n := range names {
		d := distance(asked, strings.ToLower(n))
		if d <= few || len(name) > 1 && strings.Contains(strings.ToLower(n), asked) {
			found = append(found, candidate{n, d})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	out := make([]string, 0, most)
	for _, c := range found[:min(len(found), most)] {
		out = append(out, c.name)
	}
	return out
}

// distance is Levenshtein's: the least number of runes to insert, delete or change to make b of a.
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
			change := diagonal
			if r != q {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
