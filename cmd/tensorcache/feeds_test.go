package main

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/window"
)

// TestFeedsAndTopSayWhoWaitsForWhom checks both shares of waiting and the verdict after a pass.
func TestFeedsAndTopSayWhoWaitsForWhom(t *testing.T) {
	dir := t.TempDir()
	d := startFaulty(t, dir, "", os.Args[0], "serve", "--dir", dir, "--ready-fd", "3")
	defer d.stop()
	cache, err := tensorcache.Connect(t.Context(), tensorcache.Options{Dir: dir, NoStart: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	data, err := cache.Put(t.Context(), "prices",
		[]tensorcache.PutColumn{tensorcache.Values("a", make([]float32, 10_000))},
		tensorcache.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	w, err := data.Windows(t.Context(), window.Spec{ContextLength: 3})
	if err != nil {
		t.Fatal(err)
	}
	feed, err := tensorcache.NewFeed[float32](t.Context(), w,
		tensorcache.FeedOptions{BatchSize: 2, Slots: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	for _, err := range feed.Epoch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	// the daemon has received the times of the pass
	if s, err := feed.Stats(t.Context()); err != nil || s.Verdict == "" {
		t.Fatal(s, err)
	}
	const verdict = `[0-9.]+ %.* +(trainer-bound: [0-9.]+ % waiting for data|` +
		`input-bound [0-9]+ %: .*(try |busy elsewhere).*)\n`
	for _, test := range []struct {
		args []string
		row  string
	}{
		{[]string{"feeds"}, `(?m)^f\d+ +prices +\d+ +slot +5 +.* +[0-9.]+ % +` + verdict},
		{[]string{"top", "--count", "1"},
			`(?m)^f\d+ +prices +\d+ +slot +\d+ +.* +[0-9.]+ % +` + verdict},
		{[]string{"feeds", "--json"}, `"slots": 5,(.*\n)*.*"verdict": "(trainer|input)-bound`},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], append(test.args, "--dir", dir)...)
		cmd.Env = append(os.Environ(), mainEnv+"=1", "GORACE="+raceOptions)
		out, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(test.row).Match(out) {
			t.Errorf("%s: %v, no %q in\n%s", test.args, err, test.row, out)
		}
	}
}
