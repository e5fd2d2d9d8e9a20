package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/api"
	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

func TestEveryErrorEndsWithOneHint(t *testing.T) {
	t.Setenv("TENSORCACHE_AUTOSTART", "")
	for err, says := range map[error]string{
		errors.New("anything"):               "tensorcache doctor",
		usageError{errors.New("usage")}:      "tensorcache ls --help",
		fmt.Errorf("x: %w", control.ErrGone): "run it again",
		fmt.Errorf("x: %w",
			control.ErrNoDaemon): "tensorcache serve starts one",
		fmt.Errorf("x: %w", control.ErrProtocol): "tensorcache stop",
		fmt.Errorf("x: %w",
			store.ErrLocked): "--dir names another directory",
		fmt.Errorf("mkdir: %w", fs.ErrPermission): "--dir or TENSORCACHE_DIR",
		fmt.Errorf("x: %w", api.ErrToken):         "remove that file",
		findingsError(
			[]finding{{State: stateFail}}): "lines that begin with fix:",
		wire.NewProblem(wire.DatasetNotFound, "x").WithHint("do this"): "do this",
		wire.NewProblem(wire.InvalidName, "x"):                         "tensorcache ls --help",
		wire.NewProblem(wire.Internal, "x"):                            "tensorcache doctor",
		&tensorcache.Error{Detail: "x", Hint: "do that"}:               "do that",
		&tensorcache.Error{Type: tensorcache.NoWindows, Detail: "x"}:   "tensorcache ls --help",
	} {
		var b bytes.Buffer
		printError(&b, newVerb(t, "ls"), err)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if last := lines[len(lines)-1]; len(lines) != 2 ||
			!strings.HasPrefix(lines[0], "tensorcache: ") || !strings.HasPrefix(last, "hint: ") ||
			!strings.Contains(last, says) {
			t.Errorf("%v: %q, want the hint %q", err, b.String(), says)
		}
	}
}
