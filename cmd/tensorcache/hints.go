package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/api"
	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// printError prints the error of a verb and its hint on a line of its own, with flags in place of
// the daemon's options.
func printError(w io.Writer, cmd *cobra.Command, err error) {
	text, field := err.Error(), ""
	var refused *tensorcache.Error
	var problem *wire.Problem
	var start *control.StartError
	switch {
	case errors.As(err, &start): // its lines have a hint
		for line := range strings.SplitSeq("tensorcache: "+start.Error(), "\n") {
			printLine(w, "%s", line)
		}
		return
	case errors.As(err, &refused): // its text has the hint, too
		text, field = refused.Detail, refused.Field
	case errors.As(err, &problem):
		field = problem.Field
	}
	printLine(w, "tensorcache: %s", flagsFor(cmd).inMessage(text, field))
	printLine(w, "hint: %s", inHint(hintFor(cmd, err)))
}

// printWarnings prints warnings of the daemon with their hints, with flags in place of its options.
func printWarnings(cmd *cobra.Command, kind string, warnings []wire.Warning) {
	for _, w := range warnings {
		printLine(cmd.ErrOrStderr(), "%s: %s", kind, flagsFor(cmd).inMessage(w.Detail, w.Field))
		printLine(cmd.ErrOrStderr(), "hint: %s", inHint(w.Hint))
	}
}

// hintFor returns the hint of an error: that of the daemon if it has one.
func hintFor(cmd *cobra.Command, err error) string {
	verb := "VERB"
	if cmd.HasParent() {
		verb = strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	}
	var p *wire.Problem
	var refused *tensorcache.Error
	var usage usageError
	var recipe recipeError
	switch {
	case errors.As(err, &refused) && refused.Hint != "":
		return refused.Hint
	case errors.As(err, &p) && p.Hint != "":
		return p.Hint
	case p != nil && flagHint(cmd, p.Field) != "":
		return flagHint(cmd, p.Field)
	case refused != nil && flagHint(cmd, refused.Field) != "":
		return flagHint(cmd, refused.Field)
	case errors.As(err, &usage), p != nil && p.Status < 500, refused != nil &&
		wire.NewProblem(string(refused.Type), "").Status < 500:
		return fmt.Sprintf("tensorcache %s --help shows the usage", verb)
	case errors.As(err, &recipe) && errors.Is(err, fs.ErrNotExist):
		return "look at the path: a recipe is a .json or .toml file"
	case errors.As(err, &recipe):
		return fmt.Sprintf(
			"a recipe has the options that tensorcache %s --help shows, in TOML as "+
				`fit_rows = [0, 8640], in JSON as {"fit_rows": [0, 8640]}`, verb)
	case errors.Is(err, errNoDirectory):
		return "tensorcache load makes one; --dir or TENSORCACHE_DIR names another"
	case errors.Is(err, control.ErrGone):
		return "run it again, which starts a new daemon; what was published is still there"
	case errors.Is(err, control.ErrNoDaemon) && os.Getenv("TENSORCACHE_AUTOSTART") == "0":
		return "start one with tensorcache serve, or unset TENSORCACHE_AUTOSTART"
	case errors.Is(err, control.ErrNoDaemon):
		return "tensorcache serve starts one, and tensorcache doctor says what may keep it from " +
			"starting"
	case errors.Is(err, control.ErrProtocol):
		return "tensorcache stop, by the version that started it, or end that process"
	case errors.Is(err, errChecksFailed):
		return "mend what fails first, as the lines that begin with fix: say"
	case errors.Is(err, api.ErrToken):
		return api.HintToken
	case errors.Is(err, fs.ErrPermission):
		return "tensorcache doctor tells who may use the cache directory; --dir or " +
			"TENSORCACHE_DIR names another"
	case errors.Is(err, store.ErrLocked):
		return "tensorcache stop ends the daemon that has it; --dir names another directory"
	}
	return "tensorcache doctor looks for what may be wrong"
}
