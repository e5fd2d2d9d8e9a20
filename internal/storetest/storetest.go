// Package storetest publishes datasets for tests.
package storetest

import (
	"errors"

	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// TB is the part of testing.TB that this package uses; rapid.T has it too.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Publish publishes a new generation of a dataset. fill writes the values.
func Publish(t TB, s *store.Store, name string, table layout.Table, final layout.Final,
	fill func(*layout.Writer)) {
	t.Helper()
	l, err := s.Begin(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := layout.Create(l.Dir, table)
	if err == nil {
		fill(w)
		_, err = w.Finish(final)
	}
	if err == nil {
		_, err = l.Publish()
	}
	if err = errors.Join(err, l.Abort()); err != nil {
		t.Fatal(err)
	}
}
