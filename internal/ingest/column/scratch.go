package column

import (
	"os"
	"path/filepath"

	"github.com/tensorcache/tensorcache/layout"
)

// scratchDir is the directory of scratch in that of the job, which is removed even if the child is
// killed.
const scratchDir = "scratch"

// Scratch is a temporary table. It is mapped from a file, so that it uses no anonymous memory.
type Scratch struct {
	*layout.Writer
	dir string
}

// NewScratch creates scratch in a directory. Close removes it.
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
	// Without a name, the file is deleted when the process ends, for whatever reason.
	if err := os.Remove(filepath.Join(sub, layout.DataFile)); err != nil {
		w.Abort()
		return nil, err
	}
	return &Scratch{w, sub}, nil
}

// Close unmaps and removes the table. s may be nil.
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
