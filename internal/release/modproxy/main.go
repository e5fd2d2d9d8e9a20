// Command modproxy writes a module proxy with one version of this repository's module, as the Go
// tools take it from a file:// address in GOPROXY. Tests install from it what a tag would publish.
//
//	go run ./modproxy -repository DIR -commit COMMIT -version v1.2.3 -out DIR
package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

func main() {
	repository := flag.String("repository", "", "the clone")
	commit := flag.String("commit", "", "what the version is made of")
	version := flag.String("version", "", "the version, with its v")
	out := flag.String("out", "", "the folder to write")
	flag.Parse()
	if err := run(*repository, *commit, *version, *out); err != nil {
		fmt.Fprintln(os.Stderr, "modproxy:", err)
		os.Exit(1)
	}
}

// run writes the four files of one version.
func run(repository, commit, version, out string) (err error) {
	git := exec.Command("git", "-C", repository, "show", commit+":go.mod")
	git.Stderr = os.Stderr
	mod, err := git.Output()
	if err != nil {
		return fmt.Errorf("git show %s:go.mod: %w", commit, err)
	}
	m := module.Version{Path: modfile.ModulePath(mod), Version: version}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	folder := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version": %q, "Time": "2000-01-01T00:00:00Z"}`, version)
	for name, content := range map[string]string{"list": version + "\n",
		version + ".info": info, version + ".mod": string(mod)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	files, err := os.MkdirTemp("", "tensorcache-modproxy-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(files)) }()
	if err := export(repository, commit, files); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(folder, version+".zip"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return modzip.CreateFromDir(file, m, files)
}

// export writes the files of a commit. It works in worktrees too, which modzip.CreateFromVCS
// refuses.
func export(repository, commit, folder string) error {
	git := exec.Command("git", "-C", repository, "archive", "--format=zip", commit)
	git.Stderr = os.Stderr
	archive, err := git.Output()
	if err != nil {
		return fmt.Errorf("git archive %s: %w", commit, err)
	}
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	return os.CopyFS(folder, files)
}
