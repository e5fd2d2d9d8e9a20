package files

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Limits of a load.
const (
	// MaxFiles is the largest number of sources, and of files below a directory.
	MaxFiles = 100_000

	maxPartitions = 32 // nested partitions of a file; limits cycles of links
)

// hiveNull is the value by which Hive and Spark name a partition whose value is missing.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// SourceFile is one file, and the partitions in its path.
type SourceFile struct {
	Path  string
	info  fs.FileInfo
	Parts []Partition // directories "key=value" between the source and the file, outermost first
}

// Partition is a directory with a name of the form "key=value". Both are unescaped.
type Partition struct{ Key, Value string }

// hasFormat reports whether a name has the suffix of a format.
func hasFormat(name string) bool {
	_, ok := FormatOf(name)
	return ok
}

// Expand replaces each directory among the sources by the files in it and in its partitions, sorted
// by path. The error is a [loaderr.SourceError], or a [loaderr.OptionError] if there are more than
// MaxFiles sources.
func (r AllowedRoots) Expand(sources []string) ([]SourceFile, error) {
	if len(sources) > MaxFiles {
		return nil, &loaderr.OptionError{
			Field: "sources", Value: strconv.Itoa(len(sources)), Bare: true,
			Allowed: fmt.Sprintf("at most %d files", MaxFiles),
			Hint:    "load some, and append the others",
		}
	}
	var out []SourceFile
	for _, s := range sources {
		st, err := r.StatFile(s)
		if err != nil {
			return nil, AsSourceError(s, err)
		}
		if !st.IsDir() {
			out = append(out, SourceFile{Path: s, info: st})
			continue
		}
		d := folder{allowed: r, root: s}
		if err := d.walk(s, nil); err != nil {
			return nil, err
		}
		files, err := d.sorted()
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

// folder collects the files of one directory among the sources.
type folder struct {
	allowed     AllowedRoots
	root        string
	files       []SourceFile
	otherFolder string // a directory that is not a partition
}

// walk collects the files of a directory and of the partitions in it. It ignores names that begin
// with a dot or an underscore: other programs use them for their own files.
func (f *folder) walk(dir string, partitions []Partition) error {
	entries, err := f.allowed.readDir(dir)
	if err != nil {
		return AsSourceError(dir, err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Name() == "_delta_log" {
			return &loaderr.SourceError{
				Path: f.root, Reason: "is a Delta table, whose files are not all valid",
				Hint: "read it with its own library and send it with put",
			}
		}
		if strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_") {
			continue
		}
		st, err := f.allowed.StatFile(path)
		if beyond := (*loaderr.SourceError)(nil); err != nil && !hasFormat(e.Name()) &&
			!errors.As(err, &beyond) {
			continue // a broken link whose name has no format
		}
		if err != nil {
			return AsSourceError(path, err)
		}
		if !utf8.ValidString(e.Name()) && (st.IsDir() || hasFormat(e.Name())) {
			return &loaderr.SourceError{
				Path: f.root, Reason: fmt.Sprintf("holds %q, a name that is not UTF-8", e.Name()),
				Hint: "rename it: manifests, by which files are recognized, are JSON, which is UTF-8",
			}
		}
		if !st.IsDir() {
			if hasFormat(e.Name()) {
				f.files = append(f.files, SourceFile{path, st, partitions})
			}
			if len(f.files) > MaxFiles {
				return &loaderr.SourceError{
					Path: f.root, Reason: fmt.Sprintf("holds more than %d files", MaxFiles),
					Hint: "load some of its files, and append the others",
				}
			}
			continue
		}
		key, value, ok := strings.Cut(e.Name(), "=")
		if !ok || key == "" {
			f.otherFolder = path
			continue
		}
		p, err := parsePartition(path, key, value, partitions)
		if err != nil {
			return err
		}
		if err := f.walk(path, append(slices.Clone(partitions), p)); err != nil {
			return err
		}
	}
	return nil
}

// parsePartition returns the partition of a directory name. It decodes percent-encoded characters,
// such as %20. parents are the partitions that contain the directory.
func parsePartition(path, key, value string, parents []Partition) (Partition, error) {
	invalid := func(reason string) (Partition, error) {
		return Partition{}, &loaderr.SourceError{
			Path: path, Reason: reason, Hint: "name the files and folders that are wanted",
		}
	}
	if value == hiveNull || value == "" {
		return invalid("is a partition without a value")
	}
	k, kerr := url.PathUnescape(key)
	v, verr := url.PathUnescape(value)
	switch {
	case kerr != nil || verr != nil:
		k, v = key, value
	case slices.ContainsFunc(parents, func(p Partition) bool { return p.Key == k }):
		return invalid(fmt.Sprintf("is a partition by %q within another", k))
	case len(parents) >= maxPartitions:
		return invalid(fmt.Sprintf("is more than %d partitions deep", maxPartitions))
	}
	return Partition{k, v}, nil
}

// sorted returns the files sorted by path. It returns an error if they have several formats, if
// there is none, or if a directory is not a partition.
func (f *folder) sorted() ([]SourceFile, error) {
	if len(f.files) == 0 {
		return nil, &loaderr.SourceError{
			Path: f.root, Reason: "is a directory without " + FormatNames() + " files",
			Hint: "files of a folder are recognized by their suffix; name files with other suffixes one by one",
		}
	}
	if f.otherFolder != "" {
		return nil, &loaderr.SourceError{
			Path: f.root,
			Reason: fmt.Sprintf("holds files and the folder %q, which is not a partition (key=value)",
				filepath.Base(f.otherFolder)),
			Hint: "name the files and folders that are wanted",
		}
	}
	slices.SortFunc(f.files, func(a, b SourceFile) int { return strings.Compare(a.Path, b.Path) })
	first := f.files[0]
	for _, file := range f.files {
		a, _ := FormatOf(first.Path)
		if b, _ := FormatOf(file.Path); a.Name != b.Name {
			return nil, &loaderr.SourceError{
				Path: f.root,
				Reason: fmt.Sprintf("holds %s and %s files (%s, %s), want one kind",
					a.Name, b.Name, filepath.Base(first.Path), filepath.Base(file.Path)),
				Hint: "name the files that are wanted",
			}
		}
	}
	return f.files, nil
}

// Partitions returns the keys of all partitions below the sources. The recipe contains them. A
// source that is a file has none. If the sources cannot be expanded, Partitions returns nil.
func (r AllowedRoots) Partitions(sources []string) []string {
	files, err := r.Expand(sources)
	if err != nil {
		return nil // the load returns this error
	}
	var keys []string
	for _, f := range files {
		for _, p := range f.Parts {
			if !slices.Contains(keys, p.Key) {
				keys = append(keys, p.Key)
			}
		}
	}
	return keys
}
