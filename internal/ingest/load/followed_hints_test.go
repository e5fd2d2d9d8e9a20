package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// optionInHint is an option in a hint, with or without a value.
var optionInHint = regexp.MustCompile("`([a-z_]+)(?:=([^`]*))?`")

// alternatives divides a hint into what may be done instead of each other.
var alternatives = regexp.MustCompile(`; | or |, or `)

// TestHintsOfRefusedFilesLoadThem does what each hint of docs/REFUSED.md says: a load with the
// options that it names reads the file.
func TestHintsOfRefusedFilesLoadThem(t *testing.T) {
	followed, open := 0, []string{}
	for _, f := range refusedFiles(t) {
		f.o.Sources = []string{loadtest.File(t, f.name, f.text)}
		_, _, err := loadInProcess(t, f.o)
		e := (*loaderr.SourceError)(nil)
		if !errors.As(err, &e) {
			t.Fatalf("%s, %s: %v", f.format, f.what, err)
		}
		for _, hint := range alternatives.Split(e.Hint, -1) {
			calls := callsOf(t, hint, e, f)
			if len(calls) == 0 {
				if optionInHint.MatchString(hint) {
					open = append(open, f.what)
				}
				continue
			}
			followed++
			var errs []error
			for _, o := range calls {
				_, _, err := loadInProcess(t, o)
				errs = append(errs, err)
			}
			if !slices.Contains(errs, nil) {
				t.Errorf("%s, %s: %v\nhint %q is refused: %v", f.format, f.what, e, hint, errs)
			}
		}
	}
	// Their hints leave out the only column.
	want := []string{"types that are no numbers, times or texts", "structs, maps and binary",
		"complex numbers", "long doubles", "more than two dimensions", "lists that differ in length",
		"two columns of one name"}
	if followed < 25 || !slices.Equal(open, want) {
		t.Errorf("%d hints name options; those of %q leave nothing to load, want %q", followed, open, want)
	}
}

// callsOf returns the options of a load after a hint that names options, none if it names none. There
// are several if the hint leaves a value open.
func callsOf(t *testing.T, hint string, e *loaderr.SourceError, f refusedFile) []option.Options {
	t.Helper()
	calls := []option.Options{f.o}
	named := optionInHint.FindAllStringSubmatch(hint, -1)
	for _, m := range named {
		name, values := m[1], []string{m[2]}
		if m[2] == "" {
			values = openValues(t, name, e, f)
		}
		var more []option.Options
		for _, o := range calls {
			for _, value := range values {
				more = append(more, withOption(t, o, name, value))
			}
		}
		calls = more
	}
	if len(named) == 0 {
		return nil
	}
	return calls
}

// openValues returns the values in JSON that a hint may mean by the name of an option alone. There are
// none if no load can do what it says.
func openValues(t *testing.T, name string, e *loaderr.SourceError, f refusedFile) (values []string) {
	t.Helper()
	switch name {
	case "columns":
		var others []string
		for _, other := range namesOf(t, f) {
			if other != e.Column && other != "" {
				others = append(others, strconv.Quote(other))
			}
		}
		if len(others) > 0 {
			values = []string{"[" + strings.Join(others, ",") + "]"}
		}
	case "na":
		values = []string{"[" + strconv.Quote(e.Text) + "]"}
	case "encoding":
		values = []string{`"cp1251"`, `"utf-16-le"`}
	case "delimiter":
		values = []string{`","`, `";"`, `"tab"`, `"|"`}
	default:
		t.Errorf("%s: the hint %q leaves open what %s is", f.what, e.Hint, name)
	}
	return values
}

// namesOf returns the names of the columns of a file.
func namesOf(t *testing.T, f refusedFile) []string {
	t.Helper()
	o := f.o
	o.Time, o.ItemID, o.Columns = "no such column", nil, nil
	_, _, err := loadInProcess(t, o)
	e := (*loaderr.OptionError)(nil)
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	names := strings.Split(strings.TrimPrefix(e.Hint, "the columns: "), ", ")
	for i, name := range names {
		if text, err := strconv.Unquote(name); err == nil {
			names[i] = text
		}
	}
	return names
}

// withOption returns a copy of options with one more, whose value is in JSON.
func withOption(t *testing.T, o option.Options, name, value string) (with option.Options) {
	t.Helper()
	text, err := json.Marshal(o)
	if err := errors.Join(err, json.Unmarshal(text, &with),
		json.Unmarshal(fmt.Appendf(nil, "{%q:%s}", name, value), &with)); err != nil {
		t.Fatalf("%s=%s: %v", name, value, err)
	}
	return with
}
