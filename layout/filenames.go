package layout

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"regexp"
)

// FormatVersion is written into every manifest.
//
//	1  the first
//	2  dtypes float16, int8, int16, uint8 to uint64 and duration; text beside items, -1 if there is none; in layout packed only
//	   numbers and bool are interleaved
const FormatVersion = 2

// oldestFormat is the oldest version that is still read.
const oldestFormat = 1

// The files of a generation.
const (
	DataFile     = "data.arrow"
	ItemsFile    = "items.arrow"
	ManifestFile = "manifest.json"
	SyncedFile   = "synced"
)

// VocabFile is the name of the file that holds the words of a text column.
func VocabFile(column string) string { return FileName("vocab-", column, ".arrow") }

// BeforeFillFile is the name of the file that lists a column's cells that were missing before they were filled.
func BeforeFillFile(column string) string { return FileName("before-fill-", column, ".runs") }

// longestName is what file systems allow a file's name, in bytes.
const longestName = 255

// FileName names the file of something with any name, as a column: escaped as in a URL's path, or, where that is too long for a file,
// by its SHA-256.
func FileName(prefix, name, suffix string) string {
	if file := prefix + url.PathEscape(name) + suffix; len(file) <= longestName {
		return file
	}
	return fmt.Sprintf("%s%x%s", prefix, sha256.Sum256([]byte(name)), suffix)
}

var datasetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// CheckName refuses what cannot name a dataset.
func CheckName(name string) error {
	if !datasetName.MatchString(name) {
		return fmt.Errorf("%w: %q: use 1 to 100 of letters, digits, \".\", \"_\" and \"-\", starting with a letter or digit", ErrName, name)
	}
	return nil
}
