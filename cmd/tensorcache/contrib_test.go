package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readContrib returns a file for service managers and containers.
func readContrib(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// checkCommandLine checks that the program accepts a command line.
func checkCommandLine(t *testing.T, words []string) {
	t.Helper()
	c, rest, err := newRoot().Find(words)
	if err != nil || !c.Runnable() || c.Name() != words[0] {
		t.Fatalf("%q: there is no such verb, %v", words, err)
	}
	if err := errors.Join(c.ParseFlags(rest), c.ValidateArgs(c.Flags().Args())); err != nil {
		t.Errorf("%q: %v", words, err)
	}
}

func TestTheSystemdUnitIsValid(t *testing.T) {
	unit := readContrib(t, "contrib/tensorcache.service")
	line := regexp.MustCompile(`(?m)^ExecStart=%h/\.local/bin/tensorcache (.*)$`).
		FindStringSubmatch(unit)
	if line == nil {
		t.Fatal("it starts nothing")
	}
	checkCommandLine(t, strings.Fields(line[1]))
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("the rest needs systemd-analyze")
	}
	exe, err := os.Executable() // in place of the installed program
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tensorcache.service")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(unit, "%h/.local/bin/tensorcache", exe)),
		0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(analyze, "--user", "--man=no", "verify", path)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "tensorcache.service") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestTheLaunchdAgentIsValid(t *testing.T) {
	var words []string
	depth, text := 0, ""
	for d := xml.NewDecoder(strings.NewReader(readContrib(t, "contrib/dev.tensorcache.plist"))); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "array" {
				depth++
			}
		case xml.CharData:
			text = string(e)
		case xml.EndElement:
			if e.Name.Local == "array" {
				depth--
			}
			if e.Name.Local == "string" && depth == 1 {
				words = append(words, text)
			}
		}
	}
	if len(words) != 3 || words[0] != "/bin/sh" || words[1] != "-c" {
		t.Fatalf("it starts %q", words)
	}
	line := regexp.MustCompile(
		`^exec /usr/local/bin/tensorcache (.*) 2>>"\$HOME/Library/Logs/tensorcache.log"$`).
		FindStringSubmatch(words[2])
	if line == nil {
		t.Fatalf("it starts %q", words)
	}
	checkCommandLine(t, strings.Fields(line[1]))
}

func TestTheImageStartsTheDaemonAndChecksItsHealth(t *testing.T) {
	text := readContrib(t, "Dockerfile")
	var started []string
	for _, m := range regexp.MustCompile(`(?m)\bCMD (\[.*\])$`).FindAllStringSubmatch(text, -1) {
		var words []string
		if err := json.Unmarshal([]byte(m[1]), &words); err != nil {
			t.Fatal(err)
		}
		// the health check names the program; the default command follows the entry point
		if words[0] == "/tensorcache" {
			words = words[1:]
		}
		checkCommandLine(t, words)
		started = append(started, words[0])
	}
	if strings.Join(started, " ") != "ls serve" ||
		!strings.Contains(text, "\nUSER 65532:65532\n") ||
		!strings.Contains(text, "TENSORCACHE_AUTOSTART=0") {
		t.Errorf("it starts %q", started)
	}
}
