package files

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

func TestErrorsOfFilesHaveHints(t *testing.T) {
	for number, says := range map[syscall.Errno]string{
		syscall.ENOENT: "look at the path",
		syscall.EACCES: "must be able to read it",
		syscall.EPERM:  "must be able to read it",
		syscall.EMFILE: hintDescriptors,
	} {
		var e *loaderr.SourceError
		err := AsSourceError("x.csv", &fs.PathError{Op: "open", Path: "x.csv", Err: number})
		if !errors.As(err, &e) || e.Path != "x.csv" || !strings.Contains(e.Hint, says) {
			t.Errorf("%v: %v, want the hint %q", number, err, says)
		}
	}
}
