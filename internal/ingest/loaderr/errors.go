// Package loaderr defines the errors of a load. They name the file, column, row or option, say what to do,
// and keep these facts when they cross the pipe from the child process to the daemon.
package loaderr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Errors of a load. They keep their facts across the pipe: use [errors.As] with the types below.
var (
	// ErrSource is wrapped by every [SourceError].
	ErrSource = errors.New("source cannot be loaded")
	// ErrOption is wrapped by every [OptionError].
	ErrOption = errors.New("load option is not possible")
	// ErrNoSpace is wrapped by every [NoSpaceError].
	ErrNoSpace = errors.New("no space left")
	// ErrMemory is returned when the child reached its memory limit. The message begins with the source that it read, if it did.
	ErrMemory = errors.New("load ran out of memory")
	// ErrKilled is returned when the child ended without an answer. The message says by which signal, and begins with the source that it
	// read, if it did.
	ErrKilled = errors.New("load process died")
)

// SourceError says what is wrong in a source, and where.
type SourceError struct {
	Path   string `json:"path,omitempty"`
	Column string `json:"column,omitempty"`
	// Text is the cell that offends.
	Text string `json:"text,omitempty"`
	// Row counts data rows from 1, Line the lines of a text file from 1 with the header in it; 0 is unknown.
	Row  int64 `json:"row,omitempty"`
	Line int64 `json:"line,omitempty"`
	// Group is a Parquet file's row group, Batch an Arrow stream's record batch, from 1; 0 is unknown.
	Group int `json:"group,omitempty"`
	Batch int `json:"batch,omitempty"`
	// Page counts the pages of the column in the row group from 1, its dictionary not among them; 0 is unknown.
	Page   int    `json:"page,omitempty"`
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
	// Beyond tells that it is out of the load's reach.
	NotAllowed bool `json:"beyond,omitempty"`
}

// Error says where, and then what.
func (e *SourceError) Error() string {
	var where []string
	if e.Path != "" {
		where = append(where, e.Path)
	}
	if e.Row > 0 && e.Line > 0 {
		where = append(where, fmt.Sprintf("row %d (line %d)", e.Row, e.Line))
	} else if e.Row > 0 {
		where = append(where, fmt.Sprintf("row %d", e.Row))
	} else if e.Line > 0 {
		where = append(where, fmt.Sprintf("line %d", e.Line))
	}
	if e.Group > 0 {
		where = append(where, fmt.Sprintf("row group %d", e.Group))
	}
	if e.Batch > 0 {
		where = append(where, fmt.Sprintf("record batch %d", e.Batch))
	}
	if e.Column != "" {
		where = append(where, "column "+strconv.Quote(e.Column))
	}
	if e.Page > 0 {
		where = append(where, fmt.Sprintf("page %d", e.Page))
	}
	what := e.Reason
	if e.Text != "" {
		what = Quote(e.Text) + " " + what
	}
	if len(where) == 0 {
		return what
	}
	return strings.Join(where, ", ") + ": " + what
}

// Unwrap makes errors.Is(err, ErrSource) true.
func (e *SourceError) Unwrap() error { return ErrSource }

// OptionError names a load option that is not possible.
type OptionError struct {
	Field   string `json:"field"`
	Value   string `json:"value"`
	Allowed string `json:"allowed"`
	// Column tells that the value names a column that no source has; Allowed lists near names.
	Column bool `json:"column,omitempty"`
	// Item tells the same of the name of an item.
	Item bool   `json:"item,omitempty"`
	Hint string `json:"hint,omitempty"`
}

func (e *OptionError) Error() string {
	switch {
	case e.Column && e.Allowed != "":
		return fmt.Sprintf("%s: no column is named %q; near: %s", e.Field, e.Value, e.Allowed)
	case e.Column:
		return fmt.Sprintf("%s: no column is named %q", e.Field, e.Value)
	case e.Item && e.Allowed != "":
		return fmt.Sprintf("%s: no item is named %q; near: %s", e.Field, e.Value, e.Allowed)
	case e.Item:
		return fmt.Sprintf("%s: no item is named %q", e.Field, e.Value)
	case e.Value == "":
		return e.Field + ": want " + e.Allowed
	}
	return fmt.Sprintf("%s: %s: want %s", e.Field, Quote(e.Value), e.Allowed)
}

// Unwrap makes errors.Is(err, ErrOption) true.
func (e *OptionError) Unwrap() error { return ErrOption }

// NoSpaceError says how many bytes the load needs and how many its file system has.
type NoSpaceError struct {
	Dir  string `json:"dir"`
	Need int64  `json:"need"`
	Have int64  `json:"have"`
	Text string `json:"text"`
}

func (e *NoSpaceError) Error() string {
	return fmt.Sprintf("no space left in %s: need %d bytes, have %d: %s", e.Dir, e.Need, e.Have, e.Text)
}

// Is makes it an ErrNoSpace, and the ENOSPC that it comes from.
func (e *NoSpaceError) Is(target error) bool { return target == ErrNoSpace || target == syscall.ENOSPC }

// Quote quotes a text of a source and shortens a long one.
func Quote(text string) string {
	const most = 80
	end := most
	for end < len(text) && end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) { // no rune is cut
		end--
	}
	if len(text) > most {
		return strconv.Quote(text[:end]) + "…"
	}
	return strconv.Quote(text)
}

// HintReload is what to do where rows cannot be appended.
const HintReload = "load all files again"

// Count is a number of things.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

const HintDamaged = "the file is damaged: write or copy it again"

// HintedError is a refusal that says what to do instead of leaving the column out.
type HintedError struct{ Reason, Hint string }

func (r *HintedError) Error() string { return r.Reason }

const HintDropRows = "leave the rows out before they are loaded"

// Hints that several refusals of a file give.
const (
	HintChanged = "load it again once it is complete"
	HintEmpty   = "write its rows, or leave the file out"
)

// Reported is an error with a text of its own, which another process or an earlier error has given.
type Reported struct {
	Text string
	Err  error // what it unwraps to
}

func (e *Reported) Error() string { return e.Text }

// Unwrap returns Err.
func (e *Reported) Unwrap() error { return e.Err }
