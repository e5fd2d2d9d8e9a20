package files

import (
	"fmt"
	"sync"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/layout"
)

// Staged are the staged files of a load, and the reads of them that it tried outside of what is
// staged. It is safe for concurrent use.
type Staged struct {
	mu     sync.Mutex // guards missed of each file
	files  []*stagedFile
	byPath map[string]*stagedFile
}

// stagedFile is one staged file.
type stagedFile struct {
	*origin.File
	all    *Staged
	missed []origin.Range
}

// NewStaged returns the staged files of a request.
func NewStaged(list origin.Files) *Staged {
	s := &Staged{byPath: make(map[string]*stagedFile, len(list))}
	for i := range list {
		f := &stagedFile{File: &list[i], all: s}
		s.files, s.byPath[f.Path] = append(s.files, f), f
	}
	return s
}

// check returns an error if some of n bytes from an offset on are in the file and not staged, and
// records that.
func (f *stagedFile) check(at, n int64) error {
	end := min(at+n, f.Size)
	if f.Ranges == nil || at < 0 || f.Ranges.Contain(at, end) {
		return nil
	}
	f.all.mu.Lock()
	defer f.all.mu.Unlock()
	f.missed = append(f.missed, origin.Range{at, end})
	return f.notStaged(origin.Range{at, end})
}

// notStaged returns the error for a read.
func (f *stagedFile) notStaged(r origin.Range) error {
	return &loaderr.SourceError{
		Path:   f.Path,
		Reason: fmt.Sprintf("was read at bytes %d to %d, which are not staged", r[0], r[1]),
		Hint:   "stage what the daemon lists as missing for these options, and load again",
	}
}

// Open opens a source for reading. A staged file refuses to read what is not staged.
func (s *Staged) Open(r AllowedRoots, path string) (*File, error) {
	f, err := r.Open(path)
	if err == nil && s != nil {
		f.staged = s.byPath[path]
	}
	return f, err
}

// Err returns the error of the first read that was refused, nil if there was none. A load that
// ignores the error of a read has wrong values, so it must call Err before it finishes.
func (s *Staged) Err() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if len(f.missed) > 0 {
			return f.notStaged(f.missed[0])
		}
	}
	return nil
}

// Missed returns the reads of a file that were refused.
func (s *Staged) Missed(path string) []origin.Range {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.byPath[path]
	if f == nil {
		return nil
	}
	return f.missed
}

// Of returns the staged file at a path, nil if the path is no staged file.
func (s *Staged) Of(path string) *origin.File {
	if f := s.byPath[path]; f != nil {
		return f.File
	}
	return nil
}

// Sources returns the sources as the manifest has them: remote files in place of staged ones.
func (s *Staged) Sources(sources []layout.Source) []layout.Source {
	out := make([]layout.Source, len(sources))
	for i, x := range sources {
		if out[i] = x; s != nil && s.byPath[x.Path] != nil {
			out[i] = s.byPath[x.Path].Source()
		}
	}
	return out
}

// Check refuses sources without an origin, and staged files that have not the size of their origin.
// The error is a [loaderr.OptionError].
func (s *Staged) Check(sources []layout.Source) error {
	if len(s.files) == 0 {
		return nil
	}
	for _, x := range sources {
		f := s.byPath[x.Path]
		if f == nil {
			return &loaderr.OptionError{
				Field:   "origins",
				Allowed: "one for each file of the sources: there is none for " + x.Path,
				Hint:    "load local files in another request",
			}
		}
		if f.Size != x.Bytes {
			return &loaderr.OptionError{
				Field:   "origins",
				Allowed: fmt.Sprintf("the size of %s, %d, not %d", x.Path, x.Bytes, f.Size),
			}
		}
	}
	return nil
}
