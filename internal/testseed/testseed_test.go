package testseed

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawn makes TestDraws print what it draws.
const drawn = "TENSORCACHE_TESTSEED_TEST"

func TestDraws(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v := rapid.SliceOf(rapid.Uint64()).Draw(r, "v")
		if os.Getenv(drawn) != "" {
			t.Log("drew", v)
		}
	})
}

func draws(t *testing.T, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestDraws$", "-test.v")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "TENSORCACHE_SEED=") || strings.HasPrefix(v, "RAPID_")
	}), append(env, drawn+"=1")...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if _, values, ok := strings.Cut(line, "drew"); ok {
			lines = append(lines, values)
		}
	}
	return strings.Join(lines, "")
}

func TestTwoRunsDrawTheSameValues(t *testing.T) {
	one := draws(t)
	if n := strings.Count(one, "\n"); n != 100 {
		t.Fatalf("%d draws, want 100", n)
	}
	if two := draws(t); two != one {
		t.Error("two runs drew other values")
	}
	if two := draws(t, "TENSORCACHE_SEED=1"); two != one {
		t.Error("the seed is not 1 by default")
	}
	if two := draws(t, "TENSORCACHE_SEED=2"); two == one {
		t.Error("TENSORCACHE_SEED changed nothing")
	}
	if two := draws(t, "TENSORCACHE_SEED=2", "RAPID_SEED=1"); two != one {
		t.Error("RAPID_SEED changed nothing")
	}
}

func TestAWrongSeedIsRefused(t *testing.T) {
	for _, text := range []string{"0", "-1", "x", "18446744073709551616"} {
		t.Setenv("TENSORCACHE_SEED", text)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is not refused", text)
				}
			}()
			Seed()
		}()
	}
}
