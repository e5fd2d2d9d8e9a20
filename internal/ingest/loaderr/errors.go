// Package loaderr defines the errors of a load.
//
// An error names the file, column and row, or the option, and a hint says what to do. These facts
// are fields, which are kept when the child process sends an error to the daemon: use [errors.As].
package loaderr

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/near"
)

// Errors of a load. See the types below for their facts.
var (
	// ErrSource is wrapped by every [SourceError].
	ErrSource = errors.New("source cannot be loaded")
	// ErrOption is wrapped by every [OptionError].
	ErrOption = errors.New("load option is not possible")
	// ErrNoSpace is wrapped by every [NoSpaceError].
	ErrNoSpace = errors.New("no space left")
	// ErrMemory is returned when the child process has reached its memory limit. The message begins
	// with the source that it was reading, if any.
	ErrMemory = errors.New("load ran out of memory")
	// ErrKilled is returned when the child process ended without a result. The message has the
	// signal, and begins with the source that it was reading, if any.
	ErrKilled = errors.New("load process died")
)

// SourceError is an error in a source.
type SourceError struct {
	Path   string `json:"path,omitempty"`
	Column string `json:"column,omitempty"`
	// Text is the refused cell.
	Text string `json:"text,omitempty"`
	// Row counts rows of data from 1. Line counts lines of a text file from 1, with the header. 0
	// is unknown.
	Row  int64 `json:"row,omitempty"`
	Line int64 `json:"line,omitempty"`
	// Group is a row group of Parquet, Batch a record batch of Arrow, both from 1; 0 is unknown.
	Group int `json:"group,omitempty"`
	Batch int `json:"batch,omitempty"`
	// Page counts the data pages of the column in the row group from 1; 0 is unknown.
	Page   int    `json:"page,omitempty"`
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
	// NotAllowed is true if the daemon does not allow the file as a source.
	NotAllowed bool `json:"beyond,omitempty"`
	// Panic is the text and the stack of a recovered panic, for the daemon's log. It is in no
	// message.
	Panic string `json:"panic,omitempty"`
}

// Error returns the place and then the reason, without the hint.
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

// OptionError is a load option that is not possible.
type OptionError struct {
	Field   string `json:"field"`
	Value   string `json:"value"`
	Allowed string `json:"allowed"`
	// Bare is true if Value is a number, or other JSON, that no quotes belong to.
	Bare bool `json:"bare,omitempty"`
	// Column is true if Value is the name of a column that no source has. Allowed lists similar
	// names.
	Column bool `json:"column,omitempty"`
	// Item is true if Value is the name of an item that no source has.
	Item bool   `json:"item,omitempty"`
	Hint string `json:"hint,omitempty"`
}

// Error returns the option, its value and what is allowed, without the hint.
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
	case e.Bare:
		return fmt.Sprintf("%s: got %s, want %s", e.Field, e.Value, e.Allowed)
	}
	return fmt.Sprintf("%s: %s: want %s", e.Field, Quote(e.Value), e.Allowed)
}

// WithJSON sets the value to one of JSON, and returns the error.
func (e *OptionError) WithJSON(raw []byte) *OptionError {
	if json.Unmarshal(raw, &e.Value) != nil {
		e.Value, e.Bare = string(raw), true
	}
	return e
}

// Unwrap makes errors.Is(err, ErrOption) true.
func (e *OptionError) Unwrap() error { return ErrOption }

// NoSpaceError is a lack of space. Need and Have are bytes of the file system of Dir.
type NoSpaceError struct {
	Dir  string `json:"dir"`
	Need int64  `json:"need"`
	Have int64  `json:"have"`
	Text string `json:"text"`
}

// Error returns the numbers, and what the space is for.
func (e *NoSpaceError) Error() string {
	return fmt.Sprintf("no space left in %s: need %d bytes, have %d: %s", e.Dir, e.Need,
		e.Have, e.Text)
}

// Is reports whether target is ErrNoSpace or ENOSPC.
func (e *NoSpaceError) Is(target error) bool {
	return target == ErrNoSpace || target == syscall.ENOSPC
}

// MemoryError is a lack of memory, with a hint for it.
type MemoryError struct {
	Err  error // wraps ErrMemory
	Hint string
}

// Error returns the text of Err, without the hint.
func (e *MemoryError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *MemoryError) Unwrap() error { return e.Err }

// Quote quotes a text of a source. It cuts a long one after about 80 bytes, between characters.
func Quote(text string) string {
	const most = 80
	end := most
	// between characters
	for end < len(text) && end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	if len(text) > most {
		return strconv.Quote(text[:end]) + "…"
	}
	return strconv.Quote(text)
}

// HintReload is the hint if rows cannot be appended.
const HintReload = "load all rows again"

// Count returns a number of things in words, such as 1 row or 3 rows.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// HintColumns lists the columns that a source has.
func HintColumns(names []string) string {
	const most = 20
	text := near.List(names[:min(len(names), most)])
	if len(names) > most {
		return fmt.Sprintf("the columns: %s and %d more", text, len(names)-most)
	}
	return "the columns: " + text
}

// HintDamaged is the hint for a file that contradicts its format.
const HintDamaged = "the file is damaged: write or copy it again"

// Reason and hint for a text file that ends with zero bytes, as a file system leaves it after a crash.
const (
	ReasonZeros = "ends with zero bytes"
	HintZeros   = "the file is probably incomplete: write or copy it again"
)

// Reasons and hint for contents on which a decoder fails by a panic. Nobody knows then whether they
// contradict their format.
const (
	ReasonPanic = "cannot be decoded: the decoder fails on its contents"
	HintPanic   = "the data may be damaged: write it again, or report it with the daemon's log"

	reasonContents = "its contents contradict each other"
)

// DecoderText returns the text of a decoder's error for a message. Some decoders recover from
// their own panics, whose texts say nothing to a user.
func DecoderText(err error) string {
	text := err.Error()
	if strings.Contains(text, "runtime error: ") ||
		strings.Contains(text, "arrow/ipc: unknown error while reading") {
		return reasonContents
	}
	return text
}

// HintedError is the refusal of a column with a hint of its own.
type HintedError struct{ Reason, Hint string }

// Error returns the reason.
func (r *HintedError) Error() string { return r.Reason }

// HintDropRows is the hint for values in rows that may not be needed.
const HintDropRows = "leave the rows out before they are loaded"

// Hints for files that change during the load, or are empty.
const (
	HintChanged = "load it again once it is complete"
	HintEmpty   = "write its rows, or leave the file out"
)

// Reported is an error with the text of another process or of an earlier error.
type Reported struct {
	Text string
	Err  error // returned by Unwrap
}

// Error returns Text.
func (e *Reported) Error() string { return e.Text }

// Unwrap returns Err.
func (e *Reported) Unwrap() error { return e.Err }
