package tensorcache

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// TestTheExampleLearns runs examples/nlinear_go with a small model, which must be better than
// repeating the last value.
func TestTheExampleLearns(t *testing.T) {
	c := sharedDaemon(t)
	run := exec.CommandContext(t.Context(), exampleFile, "--csv", "../../examples/data/ETTh1.csv",
		"--context-length", "48", "--prediction-length", "12", "--train", "1200", "--epochs", "2")
	run.Env = append(os.Environ(), "TENSORCACHE_DIR="+c.Dir())
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := regexp.MustCompile(`test MSE: ([0-9.]+); of repeating the last value: ([0-9.]+)\n$`).
		FindSubmatch(out)
	if found == nil {
		t.Fatalf("%s", out)
	}
	learnt, last := must(strconv.ParseFloat(string(found[1]), 64))(t),
		must(strconv.ParseFloat(string(found[2]), 64))(t)
	if !(learnt < 0.8*last) {
		t.Errorf("%s", out)
	}
}
