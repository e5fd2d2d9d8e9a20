package layout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"
)

// DamageError lists what of a generation's files differs from what was written.
type DamageError struct {
	Dir   string
	Parts []string // as `column "OT" of data.arrow`, or a file, some with what is wrong in brackets
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

// checkBytes is how much is read of a column at once.
const checkBytes = 1 << 20

// Bytes are those that Check reads.
func (d *Data) Bytes() (n int64) {
	for _, c := range d.Manifest.Columns {
		n += c.Shape[0] * max(c.Width(), 1) * c.DType.Size()
	}
	return n
}

// Verify is [Data.Check] by all cores, without telling how far it is.
func (d *Data) Verify() error {
	return d.Check(context.Background(), runtime.GOMAXPROCS(0), func(int64) {})
}

// Check compares all files with their checksums, some columns at once by so many workers. It reads them, and not the maps: a file that was cut off, or a disk that fails, is an error here and not the end of the process. tell is called with the bytes of
// columns that were read since, from several goroutines. The error is a [*DamageError] that names all that is damaged, or the context's.
// The caller holds an Acquire.
func (d *Data) Check(ctx context.Context, workers int, tell func(bytes int64)) error {
	bad := make([]bool, len(d.Manifest.Columns))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, workers))
	for i := range d.Manifest.Columns {
		group.Go(func() error {
			ok, err := d.checkColumn(ctx, &d.Manifest.Columns[i], tell)
			bad[i] = !ok
			return err
		})
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

// checkColumn reads a column and tells whether it is what was written. One that cannot be read is not.
func (d *Data) checkColumn(ctx context.Context, c *ManifestColumn, tell func(int64)) (bool, error) {
	width, stride := max(c.Width(), 1)*c.DType.Size(), c.Strides[0]
	h := xxhash.New()
	perBlock := max(1, checkBytes/stride)
	buf := make([]byte, min(perBlock, max(1, c.Shape[0]))*stride)
	for row := int64(0); row < c.Shape[0]; row += perBlock {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		n := min(perBlock, c.Shape[0]-row)
		block := buf[:(n-1)*stride+width]
		if _, err := d.data.File().ReadAt(block, c.Offset+row*stride); err != nil {
			if errors.Is(err, os.ErrClosed) {
				return false, err
			}
			return false, nil
		}
		tiles(block, stride, width, 0, n, func(dense []byte) { h.Write(dense) }) // never fails
		tell(n * width)
	}
	return formatHash(h.Sum64()) == c.XXH64, nil
}

// checkFiles lists the smaller files that are not what was written.
func (d *Data) checkFiles() (bad []string, err error) {
	names, files := d.Files()
	want := map[string]string{ItemsFile: d.Manifest.Items.XXH64}
	for _, v := range d.Manifest.Vocab {
		want[v.File] = v.XXH64
	}
	whole := map[string]string{}
	for _, c := range d.Manifest.Columns {
		if c.Prepared != nil && c.Prepared.Before != nil {
			whole[c.Prepared.Before.File] = c.Prepared.Before.XXH64
		}
	}
	if _, err := ReadManifest(d.Dir); err != nil { // it was read when this was opened, and may be another since
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

// misplaced says why a file in the directory is not the one that is mapped, "" where it is.
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
		return "another file stands in its place"
	}
	if want := d.Manifest.Files[name].Bytes; there.Size() != want {
		return fmt.Sprintf("%d bytes, want %d", there.Size(), want)
	}
	return ""
}

// hashWhole is the checksum of a file's bytes.
func hashWhole(f *os.File) (string, error) {
	h := xxhash.New()
	st, err := f.Stat()
	if err == nil {
		_, err = io.Copy(h, io.NewSectionReader(f, 0, st.Size()))
	}
	return formatHash(h.Sum64()), err
}
