package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// sourceRoots returns the directories of --root as absolute paths. A link is allowed by both its
// paths.
func (o *serveOptions) sourceRoots() (roots []string, err error) {
	for _, dir := range o.roots {
		// An unset variable gives an empty text. It must not mean the working directory.
		if dir == "" {
			return nil, fmt.Errorf("--root: got %q, want a folder", dir)
		}
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		real, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--root: there is no folder %q", path)
		}
		if err != nil {
			return nil, fmt.Errorf("--root: %w", err)
		}
		if st, err := os.Stat(real); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("--root: %q is not a folder", dir)
		}
		if roots = append(roots, path); real != path {
			roots = append(roots, real)
		}
	}
	return roots, nil
}
