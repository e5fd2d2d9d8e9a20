package origin

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

// drawRanges draws sorted, disjoint ranges of a file of 40 bytes.
func drawRanges(r *rapid.T, name string) []Range {
	var out []Range
	for range rapid.IntRange(0, 6).Draw(r, name) {
		begin := rapid.Int64Range(0, 39).Draw(r, "begin")
		out = append(out, Range{begin, rapid.Int64Range(begin, 40).Draw(r, "end")})
	}
	return out
}

// bytesOf returns which bytes of a file of 40 bytes are in ranges.
func bytesOf(ranges []Range) (in [40]bool) {
	for _, x := range ranges {
		for i := x[0]; i < x[1]; i++ {
			in[i] = true
		}
	}
	return in
}

// TestRangesAreSetsOfBytes compares the operations on ranges with those on single bytes.
func TestRangesAreSetsOfBytes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		listA, listB := drawRanges(r, "a"), drawRanges(r, "b")
		a, b := Join(listA, 0), Join(listB, 0)
		inA, inB := bytesOf(listA), bytesOf(listB)
		if bytesOf(a) != inA {
			r.Fatalf("join of %v is %v", listA, a)
		}
		for i := 1; i < len(a); i++ {
			if a[i][0] <= a[i-1][1] {
				r.Fatalf("join of %v is %v", listA, a)
			}
		}
		var want [40]bool
		n := int64(0)
		for i := range want {
			if want[i] = inA[i] && !inB[i]; want[i] {
				n++
			}
		}
		if without := a.Without(b); bytesOf(without) != want || without.Bytes() != n {
			r.Fatalf("%v without %v is %v", a, b, without)
		}
		begin := rapid.Int64Range(0, 40).Draw(r, "from")
		end := rapid.Int64Range(begin, 40).Draw(r, "to")
		if got, want := a.Contain(begin, end),
			!slices.Contains(inA[begin:end], false); got != want {
			r.Fatalf("%v contain %d to %d: %v", a, begin, end, got)
		}
		gap := rapid.Int64Range(1, 9).Draw(r, "gap")
		joined := Join(listA, gap)
		if len(Ranges(a).Without(joined)) > 0 {
			r.Fatalf("%v lacks bytes of %v", joined, a)
		}
		for i := 1; i < len(joined); i++ {
			if joined[i][0]-joined[i-1][1] < gap {
				r.Fatalf("%v has gaps below %d", joined, gap)
			}
		}
	})
}

// TestInvalidOriginsAreRefused refuses each field. No message may quote a secret.
func TestInvalidOriginsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`[{"path": "a", "url": "s3://b/a", "size": 1}]`:                              "path a",
		`[{"path": "/a/../b", "url": "s3://b/a", "size": 1}]`:                        "/a/../b",
		`[{"path": "/a", "url": "s3://b/a?secret=1", "size": 1}]`:                    "a query",
		`[{"path": "/a", "url": "s3://b/a#secret", "size": 1}]`:                      "a fragment",
		`[{"path": "/a", "url": "https://u:secret@b/a", "size": 1}]`:                 "a user",
		`[{"path": "/a", "url": "https://u:secr%et@b/a", "size": 1}]`:                "a user",
		`[{"path": "/a", "url": "b/a", "size": 1}]`:                                  "url b/a",
		`[{"path": "/a", "url": "file:///a", "size": 1}]`:                            "url file:///a",
		`[{"path": "/a", "url": "", "size": 1}]`:                                     "url",
		`[{"path": "/a", "url": "s3://b/a", "size": -1}]`:                            "size -1",
		`[{"path": "/a", "url": "s3://b/a", "size": 1, "etag": ""}]`:                 "etag",
		`[{"path": "/a", "url": "s3://b/a", "size": 1, "mtime": "now"}]`:             "mtime now",
		`[{"path": "/a", "url": "s3://b/a", "size": 9, "ranges": [[0, 10]]}]`:        "[0, 10]",
		`[{"path": "/a", "url": "s3://b/a", "size": 9, "ranges": [[3, 3]]}]`:         "[3, 3]",
		`[{"path": "/a", "url": "s3://b/a", "size": 9, "ranges": [[-1, 3]]}]`:        "[-1, 3]",
		`[{"path": "/a", "url": "s3://b/a", "size": 9, "ranges": [[5, 6], [0, 1]]}]`: "[0, 1]",
		`[{"path": "/a", "url": "s3://b/a", "size": 9, "ranges": [[0, 5], [4, 6]]}]`: "[4, 6]",
		`[{"path": "/a", "url": "s3://b/a"}, {"path": "/a", "url": "s3://b/b"}]`:     "path /a",
	} {
		var f Files
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(text, err)
		}
		err := f.Validate()
		e := (*loaderr.OptionError)(nil)
		if !errors.As(err, &e) || e.Field != "origins" || !strings.Contains(e.Value, want) ||
			strings.Contains(err.Error(), "secr") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{`[[1]]`, `[[1, 2, 3]]`, `[["a", 2]]`, `[[0.5, 2]]`} {
		var r Ranges
		if err := json.Unmarshal([]byte(text), &r); err == nil {
			t.Errorf("%s is read as %v", text, r)
		}
	}
}

// TestNamesReplacePaths replaces paths that begin with one another, and folders.
func TestNamesReplacePaths(t *testing.T) {
	n := NamesOf(Files{{Path: "/t/d/a.csv", URL: "s3://b/x/a.csv"},
		{Path: "/t/d/a.csv2", URL: "s3://b/x/a.csv2"}}, []string{"/t/d"})
	for text, want := range map[string]string{
		"/t/d/a.csv2: is not in /t/d/a.csv": "s3://b/x/a.csv2: is not in s3://b/x/a.csv",
		"/t/d: holds no files":              "s3://b/x: holds no files",
	} {
		if got := n.In(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	inner := errors.New("/t/d/a.csv")
	if err := n.Error(inner); err.Error() != "s3://b/x/a.csv" || !errors.Is(err, inner) {
		t.Error(err)
	}
}
