package column

import "fmt"

// NameAt returns the name of the column of a source at a place, which counts from 0. A column without
// a name is column_1, column_2 and so on by its place.
func NameAt(name string, place int) string {
	if name == "" {
		return fmt.Sprintf("column_%d", place+1)
	}
	return name
}

// Places returns the first place of each name.
func Places(names []string) map[string]int {
	places := make(map[string]int, len(names))
	for i, name := range names {
		if _, found := places[name]; !found {
			places[name] = i
		}
	}
	return places
}

// Counts returns the number of times each name occurs.
func Counts(names []string) map[string]int {
	counts := make(map[string]int, len(names))
	for _, name := range names {
		counts[name]++
	}
	return counts
}
