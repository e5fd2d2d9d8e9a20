package column

import (
	"os"
	"path/filepath"

	"github.com/tensorcache/tensorcache/layout"
)

// scratchDir is where scratch lies while it is used, in the job's directory: what a killed child leaves goes with that.
const scratchDir = "scratch"

// Scratch is a table that goes away: mapped from a file, so that it is no anonymous memory.
type Scratch struct {
	*layout.Writer
	dir string
}

func NewScratch(dir string, t layout.Table) (*Scratch, error) {
	sub, err := os.MkdirTemp(dir, scratchDir)
	if err != nil {
		return nil, err
	}
	w, err := layout.Create(sub, t)
	if err != nil {
		os.RemoveAll(sub)
		return nil, err
	}
	// The name is not needed any more: the space is freed however this ends.
	if err := os.Remove(filepath.Join(sub, layout.DataFile)); err != nil {
		w.Abort()
		return nil, err
	}
	return &Scratch{w, sub}, nil
}

func (s *Scratch) Close() error {
	if s == nil {
		return nil
	}
	err := s.Abort()
	if rerr := os.Remove(s.dir); err == nil {
		err = rerr
	}
	return err
}
