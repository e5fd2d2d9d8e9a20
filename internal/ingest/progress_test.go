package ingest

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
)

func TestProgressNeverDecreasesUpToFinish(t *testing.T) {
	path := loadtest.File(t, "a.csv.gz", loadtest.Compressed(t, ".gz", "a\n1\n2\n"))
	o := option.Options{Sources: []string{path}, Scale: option.All(option.ScaleStandard),
		HashSources: true}
	j := job(t, o)
	var last progress.Progress
	if _, err := Run(t.Context(), os.Args[0], j, nil, func(p progress.Progress) {
		if p.Share < last.Share {
			t.Errorf("%v comes after %v", p.Share, last.Share)
		}
		last = p
	}); err != nil {
		t.Fatal(err)
	}
	if last.Phase != progress.Finish || last.Share < 0.5 {
		t.Errorf("the last: %+v", last)
	}
}

// TestAChildReadsItsNumberOfCores sends commands to a child. The child must ignore invalid lines
// and numbers below 1.
func TestAChildReadsItsNumberOfCores(t *testing.T) {
	var got []int
	followCommands(bufio.NewReader(strings.NewReader(
		"{\"cores\":3}\n\nnonsense\n{\"cores\":0}\n{\"cores\":1}\n")),
		func(n int) { got = append(got, n) })
	if !slices.Equal(got, []int{3, 1}) {
		t.Errorf("%v, want 3 and 1", got)
	}
}
