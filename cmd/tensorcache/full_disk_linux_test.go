package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// onTmpfs is a shell script that uses a file system of 4 MiB in a new mount namespace.
const onTmpfs = `
mount -t tmpfs -o size=4m tmpfs "$TENSORCACHE_DIR"
"$0" load small small.csv
code=0; "$0" load large large.csv || code=$?
echo "exit $code"
echo "tmp: $(ls "$TENSORCACHE_DIR/tmp")"
"$0" ls
"$0" plan small --context-length 2
"$0" stop
`

func TestALoadThatDoesNotFitSaysNeedAndHaveAndLeavesNothing(t *testing.T) {
	unshare := []string{"unshare", "-Urm"}
	if exec.Command(unshare[0], unshare[1], "true").Run() != nil {
		if unshare[1] = "-m"; exec.Command(unshare[0], unshare[1], "true").Run() != nil {
			t.Skip("this kernel gives no mount namespace, neither to users (unshare -Urm) nor " +
				"to us (unshare -m): no full disk to test on")
		}
	}
	dir, cache := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"small.csv": "a\n1.5\n2.5\n3.5\n",
		"large.csv": "a\n" + strings.Repeat("1.5\n", 1<<20)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(unshare[0], unshare[1], "sh", "-e", "-c", onTmpfs, os.Args[0])
	cmd.Dir, cmd.Env = dir, append(os.Environ(), mainEnv+"=1", "GORACE="+raceOptions,
		"TENSORCACHE_DIR="+cache, "TENSORCACHE_FAULT=")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	for _, want := range []string{
		`^small: generation 1, 3 rows`, `(?m)^exit 1$`, `(?m)^tmp: $`, `(?m)^small +1 +3 `,
		`(?m)^small, generation 1: 2 windows`, `(?m)^stopped daemon`,
	} {
		if !regexp.MustCompile(want).Match(stdout.Bytes()) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
	if strings.Contains(stdout.String(), "large") {
		t.Errorf("a part of the load was kept:\n%s", stdout.String())
	}
	// 8 MiB of float64 and the rest of the file; less than 4 MiB are free
	says := regexp.MustCompile(
		`(?m)^tensorcache: no space left in .*: need 8\d{6} bytes, have [34]\d{6}: .*\n` +
			`hint: free some space`)
	if !says.Match(stderr.Bytes()) {
		t.Errorf("the message is\n%s", stderr.String())
	}
}
