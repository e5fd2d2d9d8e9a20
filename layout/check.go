package layout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"
)

// DamageError lists the parts of a generation that differ from what was written.
type DamageError struct {
	Dir   string
	Parts []string // `column "OT" of data.arrow`, or a file, some with the reason in brackets
}

func (e *DamageError) Error() string {
	const most = 10
	parts := e.Parts
	more := ""
	if len(parts) > most {
		parts, more = parts[:most], fmt.Sprintf(" and %d more", len(parts)-most)
	}
	return fmt.Sprintf("%s%s in %s: not what was written", strings.Join(parts, ", "), more, e.Dir)
}

// Unwrap makes errors.Is(err, ErrChecksum) true.
func (e *DamageError) Unwrap() error { return ErrChecksum }

// checkBytes is the number of bytes of a column that one read returns.
const checkBytes = 1 << 20

// Bytes returns the number of bytes of columns that Check reads.
func (d *Data) Bytes() (n int64) {
	for _, c := range d.Manifest.Columns {
		n += c.Shape[0] * c.rowBytes()
	}
	return n
}

// Check compares all files with their checksums. It checks several columns at once, with the given
// number of workers.
//
// Check reads the files and not the mappings: a truncated file or a failing disk is an error here
// and not a SIGBUS. Check calls report, from several goroutines, with the number of bytes of
// columns that were read since the last call. The error is a [*DamageError] that names all damaged
// parts, or the context's error. The caller must have called Acquire.
func (d *Data) Check(ctx context.Context, workers int, report func(bytes int64)) error {
	bad := make([]bool, len(d.Manifest.Columns))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, workers))
	for _, columns := range d.Manifest.interleaved() {
		group.Go(func() error { return d.checkColumns(ctx, columns, bad, report) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	damage := &DamageError{Dir: d.Dir}
	for i, c := range d.Manifest.Columns {
		if bad[i] {
			damage.Parts = append(damage.Parts, fmt.Sprintf("column %q of %s", c.Name, DataFile))
		}
	}
	files, err := d.checkFiles()
	if err != nil {
		return err
	}
	if damage.Parts = append(damage.Parts, files...); len(damage.Parts) > 0 {
		return damage
	}
	return nil
}

// Verify runs Check on all cores, without a context.
func (d *Data) Verify() error {
	return d.Check(context.Background(), runtime.GOMAXPROCS(0), func(int64) {})
}

// interleaved groups the columns whose rows are interleaved in the file. Check reads each group at
// once.
func (m *Manifest) interleaved() (groups [][]int) {
	order := make([]int, len(m.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order,
		func(a, b int) int { return cmp.Compare(m.Columns[a].Offset, m.Columns[b].Offset) })
	for _, i := range order {
		c := &m.Columns[i]
		if n := len(groups); n > 0 {
			first := &m.Columns[groups[n-1][0]]
			if c.Strides[0] == first.Strides[0] &&
				c.Offset+c.rowBytes()-first.Offset <= first.Strides[0] {
				groups[n-1] = append(groups[n-1], i)
				continue
			}
		}
		groups = append(groups, []int{i})
	}
	return groups
}

// checkColumns reads interleaved columns and sets bad for each column that differs from its
// checksum or cannot be read.
func (d *Data) checkColumns(ctx context.Context, columns []int, bad []bool,
	report func(int64)) error {
	first, last := &d.Manifest.Columns[columns[0]], &d.Manifest.Columns[columns[len(columns)-1]]
	rows, stride, width := first.Shape[0], first.Strides[0], last.Offset+
		last.rowBytes()-first.Offset
	hashes := make([]xxhash.Digest, len(columns))
	for i := range hashes {
		hashes[i].Reset()
	}
	perBlock := max(1, checkBytes/stride)
	buf := make([]byte, min(perBlock, max(1, rows))*stride)
	for row := int64(0); row < rows; row += perBlock {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := min(perBlock, rows-row)
		block := buf[:(n-1)*stride+width]
		if _, err := d.data.File().ReadAt(block, first.Offset+row*stride); err != nil {
			for _, i := range columns {
				bad[i] = true
			}
			if errors.Is(err, os.ErrClosed) {
				return err
			}
			return nil
		}
		for i, column := range columns {
			c := &d.Manifest.Columns[column]
			hash := func(dense []byte) { hashes[i].Write(dense) } // never fails
			eachBlock(block[c.Offset-first.Offset:], stride, c.rowBytes(), 0, n, hash)
			report(n * c.rowBytes())
		}
	}
	for i, column := range columns {
		bad[column] = formatHash(hashes[i].Sum64()) != d.Manifest.Columns[column].XXH64
	}
	return nil
}

// checkFiles lists the small files that differ from what was written.
func (d *Data) checkFiles() (bad []string, err error) {
	names, files := d.Files()
	want := map[string]string{ItemsFile: d.Manifest.Items.XXH64}
	for _, v := range d.Manifest.Vocab {
		want[v.File] = v.XXH64
	}
	whole := map[string]string{}
	for _, list := range d.Manifest.lists() {
		whole[list.File] = list.XXH64
	}
	if _, err := ReadManifest(d.Dir); err != nil { // it may have changed since Open
		bad = append(bad, ManifestFile)
	}
	for i, name := range names {
		if wrong := d.misplaced(name, files[i]); wrong != "" {
			bad = append(bad, fmt.Sprintf("%s (%s)", name, wrong))
			continue
		}
		if frame := d.Manifest.Files[name].Frame; frame != "" {
			switch sum, err := hashFrame(files[i]); {
			case errors.Is(err, os.ErrClosed):
				return nil, err
			case err != nil || sum != frame:
				bad = append(bad, "metadata of "+name)
			}
		}
		var sum string
		switch {
		case want[name] != "":
			sum, err = hashBuffers(files[i])
		case whole[name] != "":
			sum, err = hashWhole(files[i])
		default: // the columns
			continue
		}
		if errors.Is(err, os.ErrClosed) {
			return nil, err
		}
		if err != nil || sum != want[name]+whole[name] {
			bad = append(bad, name)
		}
	}
	slices.Sort(bad)
	return bad, nil
}

// misplaced returns why the file in the directory is not the mapped file, and "" if it is.
func (d *Data) misplaced(name string, mapped *os.File) string {
	there, err := os.Stat(filepath.Join(d.Dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "missing"
	}
	if err != nil {
		return err.Error()
	}
	open, err := mapped.Stat()
	if err != nil || !os.SameFile(there, open) {
		return "another file has replaced it"
	}
	if want := d.Manifest.Files[name].Bytes; there.Size() != want {
		return fmt.Sprintf("%d bytes, want %d", there.Size(), want)
	}
	return ""
}
