package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// sourceRoots are the folders of --root as absolute paths. One that is a link is known by both its
// names.
func (o *serveOptions) sourceRoots() (roots []string, err error) {
	for _, dir := range o.roots {
		// as a variable that is not set: where the daemon was started is nobody's choice
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
			return nil, fmt.Errorf("--root: %q is no folder", dir)
		}
		if roots = append(roots, path); real != path {
			roots = append(roots, real)
		}
	}
	return roots, nil
}
