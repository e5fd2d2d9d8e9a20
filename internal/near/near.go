// Package near finds names similar to a misspelt name.
package near

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// maxNames is the largest number of names in a message.
const maxNames = 5

// Names returns the names that differ from name in few letters or contain it, the most similar
// first.
func Names(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	lower, limit := strings.ToLower(name), max(1, min(2, len(name)-1), len(name)/3)
	for _, n := range names {
		d := distance(lower, strings.ToLower(n))
		if d <= limit || len(name) > 1 && strings.Contains(strings.ToLower(n), lower) {
			found = append(found, candidate{n, d})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	out := make([]string, 0, maxNames)
	for _, c := range found[:min(len(found), maxNames)] {
		out = append(out, c.name)
	}
	return out
}

// List returns names for a message. Those with blanks at an end, commas or quotes are quoted, so that
// they can be told apart.
func List(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		if shown[i] = name; name != strings.TrimSpace(name) || name == "" || strings.ContainsAny(name, `,"`) {
			shown[i] = strconv.Quote(name)
		}
	}
	return strings.Join(shown, ", ")
}

// distance returns the Levenshtein distance of a and b: the least number of runes to insert, delete
// or change.
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
