package tensorcache

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestTheExampleLearns runs examples/nlinear_go as a user does, small: what it has learnt beats repeating the last value.
func TestTheExampleLearns(t *testing.T) {
	c := connected(t)
	binary := filepath.Join(t.TempDir(), "nlinear_go")
	if out, err := exec.Command("go", append(append([]string{"build"}, raceFlags...), "-o", binary, "../../examples/nlinear_go")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), binary, "--csv", "../../examples/data/ETTh1.csv", "--context-length", "48", "--prediction-length", "12", "--train", "1200", "--epochs", "2")
	run.Env = append(os.Environ(), "TENSORCACHE_DIR="+c.Dir())
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := regexp.MustCompile(`test MSE: ([0-9.]+); of repeating the last value: ([0-9.]+)\n$`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("%s", out)
	}
	learnt, last := must(strconv.ParseFloat(string(found[1]), 64))(t), must(strconv.ParseFloat(string(found[2]), 64))(t)
	if !(learnt < 0.8*last) {
		t.Errorf("%s", out)
	}
}
