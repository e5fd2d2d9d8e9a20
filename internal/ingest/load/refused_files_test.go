package load

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

var update = flag.Bool("update", false, "write docs/REFUSED.md")

// refusedFile is a valid file that a load refuses.
type refusedFile struct {
	format, what, why string
	name              string // of the file
	text              string // its contents
	o                 option.Options
}

// refusedFiles returns all of them, format by format.
func refusedFiles(t *testing.T) []refusedFile {
	return slices.Concat(refusedParquet(t), refusedArrow(t), refusedArrays(t), refusedJSONLines(),
		refusedTSF(), refusedText(), refusedOthers(t))
}

const refusedHead = `# Files that are refused

On this page you find what each reader refuses although it is valid, why, and what to do.

Every row is a file that the tests load: message and remedy are those that you see, without the
path. A message says that a file is damaged only if its bytes contradict the specification of its
format. Options are named as in HTTP requests: Python has keywords of these names, and the
command line has flags with dashes in place of underscores.
`

// TestRefusedFilesAreListed loads every file and compares the messages with docs/REFUSED.md. No
// message for a valid file says that it is damaged.
func TestRefusedFilesAreListed(t *testing.T) {
	var page bytes.Buffer
	page.WriteString(refusedHead)
	format := ""
	for _, f := range refusedFiles(t) {
		path := loadtest.File(t, f.name, f.text)
		f.o.Sources = []string{path}
		_, _, err := loadInProcess(t, f.o)
		e := (*loaderr.SourceError)(nil)
		if !errors.As(err, &e) {
			t.Errorf("%s, %s: got %v, want a refusal", f.format, f.what, err)
			continue
		}
		message := strings.TrimPrefix(strings.TrimPrefix(e.Error(), path), ": ")
		message = strings.TrimPrefix(message, ", ")
		if strings.Contains(message+e.Hint, "damaged") || e.Hint == "" {
			t.Errorf("%s, %s: %s, hint %q", f.format, f.what, message, e.Hint)
		}
		if f.format != format {
			format = f.format
			page.WriteString("\n## " + format + "\n\n| what | message | why | what to do |\n" +
				"| --- | --- | --- | --- |\n")
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", f.what, cellOf(message), f.why,
			cellOf(e.Hint))
	}
	const name = "../../../docs/REFUSED.md"
	if *update {
		if err := os.WriteFile(name, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, page.Bytes()) {
		t.Errorf("docs/REFUSED.md is not what the loads say, %v: "+
			"go test ./internal/ingest/load -run TestRefusedFilesAreListed -update", err)
	}
}

// cellOf returns a text as code in a cell of a table.
func cellOf(text string) string {
	text = strings.ReplaceAll(text, "|", `\|`)
	if strings.Contains(text, "`") { // which names an option
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

// TestEveryKindOfRefusedFileIsListed compares the list with the tables of formats and of refusals.
func TestEveryKindOfRefusedFileIsListed(t *testing.T) {
	listed := refusedFiles(t)
	for _, f := range files.Formats {
		if !slices.ContainsFunc(listed, func(l refusedFile) bool {
			return l.format == f.Name || f.Text && l.format == "CSV and TSV"
		}) {
			t.Errorf("no file of format %s is listed", f.Name)
		}
	}
	for _, r := range refusals {
		if !slices.ContainsFunc(listed, func(l refusedFile) bool {
			head, path := []byte(l.text), filepath.Join(t.TempDir(), l.name)
			if err := os.WriteFile(path, head, 0o600); err != nil {
				t.Fatal(err)
			}
			opened, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			f := files.NewFile(opened)
			plain, _, _, err := files.Decompress(path, f, head,
				files.Decompression{Dir: t.TempDir(), Free: 1 << 20, Ratio: 1})
			if err == nil && plain != nil {
				defer plain.Close()
				head, _ = readHead(path, plain)
			}
			e := (*loaderr.SourceError)(nil)
			return errors.As(refuse(path, f, head), &e) &&
				e.Reason == strings.ReplaceAll(r.is, "COMPRESSED", files.CompressedNames())
		}) {
			t.Errorf("no file that %s is listed", r.is)
		}
	}
}
