package main

import (
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tensorcache/tensorcache/layout"
)

// damage is the command damage DATASET COLUMN, which flips a bit of the column's first value in
// generation 1.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	dir := filepath.Join(cacheDir(ts), "datasets", args[0], "1")
	m, err := layout.ReadManifest(dir)
	ts.Check(err)
	c, err := m.Column(args[1])
	ts.Check(err)
	f, err := os.OpenFile(filepath.Join(dir, layout.DataFile), os.O_RDWR, 0)
	ts.Check(err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], c.Offset)
	ts.Check(err)
	b[0] ^= 4
	_, err = f.WriteAt(b[:], c.Offset)
	ts.Check(err)
}
