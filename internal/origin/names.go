package origin

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Names replaces the paths of staged files by their URLs, in what users see. The zero value
// replaces nothing.
type Names struct{ replacer *strings.Replacer }

// NamesOf returns the names of staged files and of the staged folders among the sources.
func NamesOf(files Files, sources []string) Names {
	if len(files) == 0 {
		return Names{}
	}
	type name struct{ path, url string }
	var names []name
	given := map[string]bool{}
	for _, f := range files {
		names = append(names, name{f.Path, f.URL})
		given[f.Path] = true
	}
	for _, s := range sources {
		if given[s] {
			continue
		}
		for _, f := range files { // the folder of the first file in it
			below, ok := strings.CutPrefix(f.Path, s)
			if url, same := strings.CutSuffix(f.URL, filepath.ToSlash(below)); ok && same {
				names = append(names, name{s, url})
				break
			}
		}
	}
	// The longest path first: one may begin with another.
	slices.SortFunc(names, func(a, b name) int { return cmp.Compare(len(b.path), len(a.path)) })
	var pairs []string
	for _, n := range names {
		pairs = append(pairs, n.path, n.url)
	}
	return Names{strings.NewReplacer(pairs...)}
}

// In returns a text with URLs in place of paths.
func (n Names) In(text string) string {
	if n.replacer == nil {
		return text
	}
	return n.replacer.Replace(text)
}

// Error returns an error with URLs in place of paths. It keeps the fields of errors of a load, and
// what the error wraps.
func (n Names) Error(err error) error {
	if n.replacer == nil || err == nil {
		return err
	}
	var source *loaderr.SourceError
	var option *loaderr.OptionError
	var space *loaderr.NoSpaceError
	switch {
	case errors.As(err, &source):
		e := *source
		e.Path, e.Reason, e.Hint = n.In(e.Path), n.In(e.Reason), n.In(e.Hint)
		return &e
	case errors.As(err, &option):
		return err // a client must find its own path
	case errors.As(err, &space):
		e := *space
		e.Text = n.In(e.Text)
		return &e
	}
	return &renamed{n.In(err.Error()), err}
}

// renamed is an error with another text.
type renamed struct {
	text string
	err  error
}

func (e *renamed) Error() string { return e.text }
func (e *renamed) Unwrap() error { return e.err }
