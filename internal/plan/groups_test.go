package plan

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/store"
)

// groupsOf returns the groups of windows of dataset "d" in a store that was just opened.
func groupsOf(t *testing.T, dir, spec string, cuts ...wire.Cut) (groups [][]uint32) {
	t.Helper()
	s := must(store.Open(dir, slog.New(slog.DiscardHandler)))(t)
	defer s.Close()
	h := must(s.Acquire("d", 0))(t)
	defer h.Release()
	g := must(must(New(h, json.RawMessage(spec), cuts))(t).groups())(t)
	for i := range g.GroupCount() {
		groups = append(groups, append([]uint32{}, g.Group(i)...))
	}
	return groups
}

func TestGroupsAreStoredForEachSpecAndCuts(t *testing.T) {
	dir := t.TempDir()
	s := must(store.Open(dir, slog.New(slog.DiscardHandler)))(t)
	publishIrregular(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files := func() []string {
		return must(filepath.Glob(filepath.Join(dir, "datasets", "d", "1", "derived",
			"table-groups-*")))(t)
	}
	const spec = `{"context_length": 16, "columns": ["level"]}`
	groups := groupsOf(t, dir, spec)
	if windows := (1400 - 15) + (1600 - 15); len(groups) != windows {
		t.Errorf("%d groups, want %d: the items have no times in common", len(groups), windows)
	}
	if n := len(files()); n != 1 {
		t.Fatalf("%d files", n)
	}
	path := files()[0]
	whole := must(os.ReadFile(path))(t)
	if err := os.WriteFile(path, whole[:len(whole)-4], 0o600); err != nil {
		t.Fatal(err)
	}
	if again := groupsOf(t, dir, spec); !reflect.DeepEqual(again, groups) {
		t.Error("a torn file is used")
	}
	if again := must(os.ReadFile(path))(t); !reflect.DeepEqual(again, whole) {
		t.Error("a torn file is not made again")
	}
	groupsOf(t, dir, spec, wire.Cut(`{"where": {"rows": [0, 100]}}`))
	if n := len(files()); n != 2 {
		t.Errorf("%d files of two cuts", n)
	}
	groupsOf(t, dir, `{"context_length": 16, "prediction_length": 1, "columns": ["level"]}`)
	if now := files(); len(now) != 2 || slices.Contains(now, path) {
		t.Errorf("files %v, want those of the last two specs: three take over a quarter", now)
	}
}

func TestTooManyWindowsForGroupsAreRefused(t *testing.T) {
	if err := checkGrouped("x", math.MaxUint32); err != nil {
		t.Error(err)
	}
	var refused *sampler.OptionError
	if err := checkGrouped("x", math.MaxUint32+1); !errors.As(err, &refused) ||
		refused.Field != "order" || refused.Value != "x" {
		t.Errorf("got %v", err)
	}
}
