package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// docsPage returns a page of docs.
func docsPage(t *testing.T, name string) string {
	t.Helper()
	// join continued lines
	return strings.ReplaceAll(readContrib(t, filepath.Join("docs", name)), "\\\n", "")
}

// commandLines returns the lines of a page that begin with one of the programs.
func commandLines(page string, programs ...string) (lines []string) {
	for _, m := range regexp.MustCompile(
		`(?m)^    (([a-z]+) .*)$`).FindAllStringSubmatch(page, -1) {
		if slices.Contains(programs, m[2]) {
			lines = append(lines, m[1])
		}
	}
	return lines
}

// TestTheCommandsOfThePagesRun runs the commands of each page in a new home directory in which
// ETTh1 is loaded, with the daemon that the page starts. For commands of programs that are not
// installed, it checks only the files and verbs that they name.
func TestTheCommandsOfThePagesRun(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs("../../examples/data/ETTh1.csv")
	if err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"HTTP.md": 2, "MEMORY.md": 6, "DASHBOARD.md": 2,
		"OPERATIONS.md": 8} {
		t.Run(name, func(t *testing.T) {
			// the path of t.TempDir may be too long for a socket
			home, err := os.MkdirTemp("", "page")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(home) })
			bin, cache := filepath.Join(home, "bin"), filepath.Join(home, ".cache/tensorcache")
			if err := errors.Join(os.MkdirAll(filepath.Join(home, "Library/LaunchAgents"), 0o700),
				os.Mkdir(bin, 0o700),
				os.Symlink(exe, filepath.Join(bin, "tensorcache"))); err != nil {
				t.Fatal(err)
			}
			for variable, value := range map[string]string{
				"HOME": home, "TENSORCACHE_DIR": cache, "PATH": bin + ":" + os.Getenv("PATH"),
				mainEnv: "1", "GORACE": raceOptions, "DISPLAY": "", "WAYLAND_DISPLAY": "",
			} {
				t.Setenv(variable, value)
			}
			lines := commandLines(docsPage(t, name), "curl", "tensorcache", "mkdir", "cp", "docker",
				"systemctl", "launchctl")
			if len(lines) < least {
				t.Fatalf("found %q only", lines)
			}
			t.Chdir("../..")
			serve := "tensorcache serve"
			for _, line := range lines {
				if strings.HasPrefix(line, serve) {
					serve = line
				}
			}
			d := startFaulty(t, cache, "", "sh", "-c", "exec "+serve+" --http 127.0.0.1:0 "+
				"--ready-fd 3")
			defer d.stop()
			if job, err := d.load("etth1", source); err != nil || job.Error != nil {
				t.Fatal(err, job.Error)
			}
			at, err := control.ReadDaemon(cache)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				if line != serve {
					runLine(t, strings.ReplaceAll(line, "127.0.0.1:7007", at.HTTP), home)
				}
			}
		})
	}
}

// runLine runs a line and checks the form of its output.
func runLine(t *testing.T, line, home string) {
	t.Helper()
	switch program, rest, _ := strings.Cut(line, " "); program {
	case "docker":
		if _, verb, ok := strings.Cut(rest, " tensorcache serve "); ok {
			checkCommandLine(t, append([]string{"serve"}, strings.Fields(verb)...))
		}
		return
	case "systemctl", "launchctl":
		file := strings.Replace(rest[strings.LastIndexByte(rest, ' ')+1:], "~", home, 1)
		if program == "systemctl" {
			file = filepath.Join(home, ".config/systemd/user", file+".service")
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		return
	case "curl":
		curl(t, line)
		return
	case "tensorcache":
		if rest, comment, _ := strings.Cut(rest, "#"); strings.TrimSpace(rest) == "top" {
			line = "tensorcache top --count 1 #" + comment
		}
	}
	out, err := exec.Command("sh", "-c", line).Output()
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
	if strings.HasPrefix(line, "tensorcache") && len(out) == 0 {
		t.Errorf("%s says nothing", line)
	}
}

// curl does what the program curl would do, which need not be installed, and wants the list of
// datasets.
func curl(t *testing.T, line string) {
	t.Helper()
	words, err := exec.Command("sh", "-c", `curl() { printf '%s\n' "$@"; }; `+line).Output()
	if err != nil {
		t.Fatal(line, err)
	}
	args := strings.Split(strings.TrimSpace(string(words)), "\n")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, args[len(args)-1], nil)
	if err != nil {
		t.Fatal(line, err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	for args = args[:len(args)-1]; len(args) > 1; args = args[2:] {
		switch value := args[1]; args[0] {
		case "-H":
			name, field, _ := strings.Cut(value, ": ")
			req.Header.Set(name, field)
		case "--unix-socket":
			transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", value)
			}
		default:
			t.Fatalf("%s: what is %s?", line, args[0])
		}
	}
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(line, err)
	}
	defer res.Body.Close()
	var d wire.Datasets
	if err := json.NewDecoder(res.Body).Decode(&d); err != nil || res.StatusCode != http.StatusOK ||
		len(args) > 0 || len(d.Datasets) != 1 || d.Datasets[0].Dataset != "etth1" {
		t.Errorf("%s answers %d, %+v, %v", line, res.StatusCode, d, err)
	}
}

// TestCommandsInTheTextOfThePagesExist checks that commands in the text have a verb and flags
// that exist.
func TestCommandsInTheTextOfThePagesExist(t *testing.T) {
	n := 0
	for _, name := range []string{"HTTP.md", "MEMORY.md", "DASHBOARD.md", "OPERATIONS.md"} {
		text := docsPage(t, name)
		for _, m := range regexp.MustCompile(
			"`(?:tensorcache |(?:serve|stop|pin|ls) --)[^`…]*`").FindAllString(text, -1) {
			words := strings.Fields(strings.TrimPrefix(strings.Trim(m, "`"), "tensorcache "))
			for i, w := range words { // values for words in capitals
				words[i] = strings.NewReplacer("SIZE", "8GiB", "PORT", "7007", "[NAME]", "name").
					Replace(w)
			}
			for range 2 { // the text may name the verb without arguments
				if c, rest, err := newRoot().Find(words); err == nil && c.ParseFlags(rest) == nil &&
					c.ValidateArgs(c.Flags().Args()) != nil {
					words = append(words, "name")
				}
			}
			checkCommandLine(t, words)
			n++
		}
	}
	if n < 20 {
		t.Errorf("%d commands were found", n)
	}
}
