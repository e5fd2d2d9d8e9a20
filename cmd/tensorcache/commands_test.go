package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// userVerbs returns the verbs that users see, without cobra's own.
func userVerbs(root *cobra.Command) (out []*cobra.Command) {
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			out = append(out, c)
		}
	}
	slices.SortFunc(out,
		func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
	return out
}

// TestEveryVerbHasHelpAndAnExampleThatParses parses each example as the program does.
func TestEveryVerbHasHelpAndAnExampleThatParses(t *testing.T) {
	for _, c := range userVerbs(newRoot()) {
		t.Run(c.Name(), func(t *testing.T) {
			if c.Short == "" || strings.HasSuffix(c.Short, ".") {
				t.Errorf("short: %q", c.Short)
			}
			if c.RunE == nil {
				t.Error("it does nothing")
			}
			if n := strings.Count(strings.TrimSpace(c.Example), "\n") + 1; n != 1 ||
				c.Example == "" {
				t.Errorf("%d examples, want one: %q", n, c.Example)
			}
			_, words, found := strings.Cut(c.Example, "tensorcache "+c.Name())
			if !found || !strings.HasPrefix(c.Example, "  ") {
				t.Fatalf("the example is %q", c.Example)
			}
			if pipe := strings.IndexAny(words, "<>|"); pipe >= 0 {
				words = words[:pipe]
			}
			for _, word := range strings.Fields(words) {
				if strings.HasPrefix(word, "-") != strings.HasPrefix(word, "--") {
					t.Errorf("%s: flags are spelled out", word)
				}
			}
			if err := c.ParseFlags(strings.Fields(words)); err != nil {
				t.Errorf("%q: %v", words, err)
			}
			if err := c.ValidateArgs(c.Flags().Args()); err != nil {
				t.Errorf("%q: %v", words, err)
			}
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if f.Name != strings.ToLower(f.Name) || f.Usage == "" ||
					strings.HasSuffix(f.Usage, ".") {
					t.Errorf("--%s: %q", f.Name, f.Usage)
				}
			})
		})
	}
}

// TestVerbsThatListOrShowHaveJSON checks that verbs that list or show something have --json.
func TestVerbsThatListOrShowHaveJSON(t *testing.T) {
	root := newRoot()
	for _, name := range []string{"ls", "show", "plan", "verify", "top", "doctor", "version",
		"jobs", "feeds", "bench", "head"} {
		c, _, err := root.Find([]string{name})
		if err != nil || c.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json, %v", name, err)
		}
	}
}

var update = flag.Bool("update", false, "write docs/CLI.md and testdata/public/cli.txt")

// TestTheCommandLinePageIsUpToDate compares docs/CLI.md with the program.
func TestTheCommandLinePageIsUpToDate(t *testing.T) {
	const path = "../../docs/CLI.md"
	want := cliPage(newRoot())
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/CLI.md is not what the program says: go test ./cmd/tensorcache -run " +
			"CommandLinePage -update")
	}
}

// cliIntroduction begins docs/CLI.md; ~ stands for a backtick.
const cliIntroduction = `# The command line

Made from the program's own help: ~go test ./cmd/tensorcache -run CommandLinePage -update~. Results
go to standard output; progress and messages to standard error. It exits with 0 when done, 1 when
refused or failed, 2 for wrong usage; every error ends with a ~hint:~ line. ~tensorcache completion
bash|zsh|fish|powershell~ prints what completes verbs, flags and names of datasets in a shell
(~source <(tensorcache completion bash)~). Every verb takes ~--dir~, the cache directory (else
~$TENSORCACHE_DIR~, else the user's own).

| verb | does |
| --- | --- |
`

// cliPage returns the description of the command line in Markdown.
func cliPage(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString(strings.ReplaceAll(cliIntroduction, "~", "`"))
	all := userVerbs(root)
	for _, c := range all {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c.Use, c.Name(), c.Short)
	}
	for _, c := range all {
		fmt.Fprintf(&b, "\n## %s\n\n", c.Name())
		if c.Long != "" {
			fmt.Fprintf(&b, "%s\n\n", c.Long)
		} else {
			fmt.Fprintf(&b, "%s%s.\n\n", strings.ToUpper(c.Short[:1]), c.Short[1:])
		}
		fmt.Fprintf(&b, "%s\n", "  "+strings.ReplaceAll(c.Example, "\n", "\n  "))
		first := true
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if first {
				b.WriteString("\n| flag | |\n| --- | --- |\n")
				first = false
			}
			value, usage := pflag.UnquoteUsage(f)
			name := "--" + f.Name
			if value != "" {
				name += " " + value
			}
			if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" && d != "-1" &&
				!strings.Contains(usage, "default") {
				usage += " (default " + d + ")"
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(usage, "|", "\\|"))
		})
	}
	return b.Bytes()
}
