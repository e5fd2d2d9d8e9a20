// Command tensorcache is the daemon and its command line. Each verb is a file.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/near"
)

// version is set by the linker in releases.
var version = "0.1.0"

func main() { os.Exit(run()) }

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // the request was refused or failed
	exitUsage  = 2 // wrong arguments or flags
)

// usageError is an error in the arguments or flags.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// run runs the program and returns its exit code.
func run() int {
	if len(os.Args) == 2 && os.Args[1] == ingest.Verb {
		return ingest.Main(os.Stdin, os.Stdout)
	}
	root := newRoot()
	root.SetArgs(withMeltValue(os.Args[1:]))
	cmd, err := root.ExecuteC()
	if err == nil {
		return exitDone
	}
	printError(root.ErrOrStderr(), cmd, err)
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// options are the flags of all verbs.
type options struct {
	dir string
}

func newRoot() *cobra.Command {
	o := &options{}
	root := &cobra.Command{
		Use:           "tensorcache",
		Short:         "load time series once, share them in memory, and feed windows to trainers",
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{unknownVerb(cmd, args[0])}
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.PersistentFlags().StringVar(&o.dir, "dir", "",
		"cache `directory` (default $TENSORCACHE_DIR, else the user's cache directory)")
	root.SetFlagErrorFunc(flagError)
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(flagName(name)) // as Python and JSON write it
	})
	root.AddCommand(
		newServe(o), newLoad(o), newAppend(o), newPut(o), newLs(o), newShow(o),
		newHead(o), newPlan(o),
		newVerify(o), newFeeds(o), newJobs(o), newUI(o), newRm(o), newStop(o), newVersion(o),
		newPreload(o), newUnload(o), newPin(o), newTop(o), newDoctor(o), newBench(o),
	)
	root.InitDefaultCompletionCmd() // else Execute adds it, after the loop below
	if err := root.MarkPersistentFlagDirname("dir"); err != nil {
		panic(err) // the flag does not exist
	}
	refuseEmptyTexts(root.PersistentFlags())
	for _, c := range root.Commands() {
		refuseEmptyTexts(c.Flags())
		if c.ValidArgsFunction == nil && strings.Contains(c.Use, " NAME") {
			c.ValidArgsFunction = o.completeName
		}
		if c.Name() == "completion" {
			changeCompletionVerb(c)
		}
		o.addFlagValues(c)
		useArgsErrors(c)
	}
	return root
}

// useArgsErrors makes a verb, and its subverbs, return the error of argsError for wrong arguments.
func useArgsErrors(c *cobra.Command) {
	for _, sub := range c.Commands() {
		useArgsErrors(sub)
	}
	check := c.Args
	if check == nil {
		return
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) != nil || slices.Contains(args, "") {
			return usageError{argsError(cmd, args)}
		}
		return nil
	}
}

// unknownVerb returns an error that names similar verbs.
func unknownVerb(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	if meant := near.Names(name, names); len(meant) > 0 {
		return fmt.Errorf("there is no verb %q; near: %s", name, strings.Join(meant, ", "))
	}
	return fmt.Errorf("there is no verb %q", name)
}

// argsError says which arguments a verb wants, and which it got.
func argsError(cmd *cobra.Command, args []string) error {
	verb, want, _ := strings.Cut(cmd.Use, " ")
	if want == "" {
		want = "no argument"
	}
	if len(args) == 0 {
		return fmt.Errorf("%s: want %s", verb, want)
	}
	return fmt.Errorf("%s: got %s, want %s", verb,
		strings.Trim(fmt.Sprintf("%q", args), "[]"), want)
}

// startMode says what connect does if no daemon runs.
type startMode int

// Modes of connect.
const (
	ifRunning     startMode = iota // nothing
	inDirectory                    // start one if the cache directory exists
	makeDirectory                  // start one, and make its directory
)

// errNoDirectory is returned by connect if the cache directory does not exist.
var errNoDirectory = errors.New("there is no cache directory")

// connect connects to the daemon, and starts one if the mode says so and none runs.
func (o *options) connect(mode startMode) (*control.Client, error) {
	dir, err := control.Dir(o.dir)
	if err != nil {
		return nil, err
	}
	if mode == inDirectory && os.Getenv("TENSORCACHE_AUTOSTART") != "0" {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w %q", errNoDirectory, dir)
		}
	}
	return control.Connect(dir, mode != ifRunning)
}

// fullVersion returns the version with the commit, if the build knows it.
func fullVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return version + "+" + s.Value[:12]
		}
	}
	return version
}
