package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/near"
)

// notFound names what was asked for and what is near it.
func (s *Store) notFound(name string) error {
	if len(s.datasets) == 0 {
		return fmt.Errorf("%w: no dataset is named %q; there are none yet", ErrNotFound, name)
	}
	if names := near.Names(name, slices.Collect(maps.Keys(s.datasets))); len(names) > 0 {
		return fmt.Errorf("%w: no dataset is named %q; near: %s", ErrNotFound, name,
			strings.Join(names, ", "))
	}
	return fmt.Errorf("%w: no dataset is named %q; there are: %s", ErrNotFound, name,
		strings.Join(first(slices.Sorted(maps.Keys(s.datasets)), 5), ", "))
}

func first(names []string, n int) []string {
	if len(names) > n {
		return append(slices.Clone(names[:n]), "…")
	}
	return names
}
