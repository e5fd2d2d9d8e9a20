package store

import (
	"errors"
	"testing"
)

// TestADigestFindsWhatIsPublishedOrRead acquires by digest: the newest of equal generations, and one that
// somebody reads after its removal.
func TestADigestFindsWhatIsPublishedOrRead(t *testing.T) {
	s := openStore(t, t.TempDir())
	first := publish(t, s, "d", 1)
	h, err := s.Acquire("d", first)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	digest := h.Data.Manifest.Digest
	check := func(want int64) {
		t.Helper()
		got, err := s.AcquireDigest("d", digest)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Release()
		if got.Generation != want || got.Data.Manifest.Digest != digest {
			t.Errorf("generation %d of digest %s, want %d", got.Generation, got.Data.Manifest.Digest, want)
		}
	}
	check(first)
	publish(t, s, "d", 2)
	check(first)
	publish(t, s, "e", 1)
	check(first)
	equal := publish(t, s, "d", 1)
	check(equal)
	held, err := s.Acquire("d", equal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove("d"); err != nil {
		t.Fatal(err)
	}
	check(equal)
	held.Release()
	check(first)
	h.Release()
	for name, want := range map[string]error{"d": ErrNotFound, "e": ErrDigest, "f": ErrNotFound} {
		if _, err := s.AcquireDigest(name, "0123"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AcquireDigest("e", digest); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
