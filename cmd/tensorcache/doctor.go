package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
)

// daemonTimeout limits how long doctor waits for the daemon's responses.
const daemonTimeout = 5 * time.Second

func newDoctor(o *options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "look for what may be wrong, and say how to mend it",
		Args: cobra.NoArgs,
		Long: `Doctor looks at the machine, the cache directory, the daemon and its clients.
Each finding is ok, warn or fail, and has a remedy where it is not ok. It starts
no daemon and changes nothing. It exits with 1 where something fails.`,
		Example: "  tensorcache doctor",
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := control.Dir(o.dir)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), daemonTimeout)
			defer cancel()
			found := checkAll(ctx, dir)
			if asJSON {
				if err := printJSON(cmd.OutOrStdout(), findings{found}); err != nil {
					return err
				}
			} else if err := writeFindings(cmd.OutOrStdout(), found); err != nil {
				return err
			}
			return findingsError(found)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// States of a finding.
const (
	stateOK   = "ok"
	stateWarn = "warn"
	stateFail = "fail"
)

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Fix    string `json:"fix"` // "" if the state is ok
}

type findings struct {
	Findings []finding `json:"findings"`
}

func pass(check, format string, args ...any) finding {
	return finding{Check: check, State: stateOK, Detail: fmt.Sprintf(format, args...)}
}

// warn returns a finding about something that may cause problems, fail about something that does
// not work.
func warn(check, fix, format string, args ...any) finding {
	return finding{check, stateWarn, fmt.Sprintf(format, args...), fix}
}

func fail(check, fix, format string, args ...any) finding {
	return finding{check, stateFail, fmt.Sprintf(format, args...), fix}
}

func writeFindings(w io.Writer, found []finding) error {
	rows := make([][]any, 0, len(found))
	for _, f := range found {
		rows = append(rows, []any{f.State, f.Check, f.Detail})
		if f.Fix != "" {
			rows = append(rows, []any{"", "", "fix: " + f.Fix})
		}
	}
	return table(w, rows)
}

// errChecksFailed is returned if a check fails.
var errChecksFailed = errors.New("something is wrong")

func findingsError(found []finding) error {
	var failed []string
	for _, f := range found {
		if f.State == stateFail {
			failed = append(failed, f.Check)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", errChecksFailed, joinNames(failed))
}
