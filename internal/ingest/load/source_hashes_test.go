package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

func TestSourcesAreHashed(t *testing.T) {
	a, b := loadtest.File(t, "a.csv", "a\n1\n"),
		loadtest.File(t, "b.csv", "a\n"+strings.Repeat("123456789\n", 300_000))
	l := mustLoad(t, option.Options{Sources: []string{a, b}, HashSources: true})
	for i, path := range []string{a, b} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%016x", xxhash.Sum64(text)); l.Manifest.Sources[i].XXH64 != want {
			t.Errorf("%s: %q, want %s", path, l.Manifest.Sources[i].XXH64, want)
		}
	}
	if strings.Contains(string(l.Manifest.Recipe), "hash") {
		t.Errorf("the recipe contains hash_sources: %s", l.Manifest.Recipe)
	}
}

func TestASourceThatChangesWhileItIsHashedIsRefused(t *testing.T) {
	path := loadtest.File(t, "a.csv", "a\n1\n")
	sources, err := files.AllowedRoots{}.Stat([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	_, err = files.AllowedRoots{}.HashSources(t.Context(), sources, 1, func(int64) {
		if err := os.WriteFile(path, []byte("a\n1\n2\n"), 0o600); err != nil {
			t.Error(err)
		}
	})
	loadtest.Refused(t, err, path+": the file was changed", "load it again")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (files.AllowedRoots{}).HashSources(ctx, sources, 1, func(int64) {}); !errors.Is(
		err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
