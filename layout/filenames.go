package layout

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"regexp"
)

// FormatVersion is written into every manifest.
//
//	1  the first version
//	2  dtypes float16, int8, int16, uint8 to uint64 and duration; text columns beside items, -1 if
//	   missing; layout packed interleaves only numbers and bool
const FormatVersion = 2

// oldestFormat is the oldest version that this program reads.
const oldestFormat = 1

// The files of a generation.
const (
	DataFile     = "data.arrow"
	ItemsFile    = "items.arrow"
	ManifestFile = "manifest.json"
	SyncedFile   = "synced"
)

// MaxFiles is the largest number of files of a generation beside the manifest. A reply of the daemon
// has 8 bytes to attach the descriptors of files to, 253 each.
const MaxFiles = 8 * 253

// VocabFile returns the name of the file with the words of a text column.
func VocabFile(column string) string { return FileName("vocab-", column, ".arrow") }

// BeforeFillFile returns the name of the file that lists the rows of a column with cells that were
// missing before a fill.
func BeforeFillFile(column string) string { return FileName("before-fill-", column, ".runs") }

// FilledCellsFile returns the name of the file that lists, for each feature of a column, the rows in
// which its value was missing before a fill.
func FilledCellsFile(column string) string { return FileName("before-fill-", column, ".cells") }

// FitRowsFile is the name of the file that lists the rows which [ScaledOf] was fitted to.
const FitRowsFile = "fit-rows.runs"

// longestName is the longest file name, in bytes, that file systems allow.
const longestName = 255

// FileName returns a file name for any name, for example of a column. It escapes the name as in a
// URL's path. If the result is too long, it uses the SHA-256 of the name.
func FileName(prefix, name, suffix string) string {
	if file := prefix + url.PathEscape(name) + suffix; len(file) <= longestName {
		return file
	}
	return fmt.Sprintf("%s%x%s", prefix, sha256.Sum256([]byte(name)), suffix)
}

var datasetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// CheckName returns an error that wraps ErrName if name is not allowed for a dataset.
func CheckName(name string) error {
	if !datasetName.MatchString(name) {
		return fmt.Errorf(
			"%w: %q: use 1 to 100 of letters, digits, \".\", \"_\" and \"-\", starting with a letter or digit", ErrName, name)
	}
	return nil
}
