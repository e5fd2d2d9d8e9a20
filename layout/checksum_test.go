package layout

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/arrowfile"
)

// TestMetadataWithAFlippedBitIsReadOrRefused flips bits of Arrow files. A damaged length must not
// make the process allocate more memory than exists.
func TestMetadataWithAFlippedBitIsReadOrRefused(t *testing.T) {
	dir := t.TempDir()
	m := write(t, dir, Packed, 3)
	for _, name := range []string{DataFile, m.Vocab["symbol"].File} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for i := 0; i < 8*len(b); i += 5 {
			b[i/8] ^= 1 << (i % 8)
			if _, err := arrowfile.FieldBuffers(bytes.NewReader(b), int64(len(b))); errors.Is(
				err, ErrTorn) {
				refused++
			} else if err != nil {
				t.Fatalf("%s, bit %d: %v", name, i, err)
			}
			b[i/8] ^= 1 << (i % 8)
		}
		if refused < 100 || refused >= len(b) {
			t.Errorf("%s: %d are refused, of %d bytes", name, refused, len(b))
		}
	}
}

// TestAFlippedBitAnywhereIsFound flips bits everywhere except in the padding of buffers, which is
// never read.
func TestAFlippedBitAnywhereIsFound(t *testing.T) {
	const seed, flips = 20261121, 300
	random := rand.New(rand.NewPCG(seed, 0))
	for _, kind := range []string{Columns, Packed} {
		dir := t.TempDir()
		m := write(t, dir, kind, 3)
		names := []string{ManifestFile, DataFile, ItemsFile, m.Vocab["symbol"].File}
		for range flips / 2 {
			path := filepath.Join(dir, names[random.IntN(len(names))])
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bit := random.IntN(8 * len(b))
			if filepath.Ext(path) == ".arrow" &&
				isPadding(t, m, filepath.Base(path), b, int64(bit/8)) {
				continue
			}
			good := bytes.Clone(b)
			b[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := Open(dir)
			if err == nil {
				if err = d.Verify(); !errors.Is(err, ErrChecksum) {
					t.Errorf("seed %d: %s, bit %d of byte %d: verified, %v", seed, path,
						bit%8, bit/8, err)
				}
				d.Close()
			} else if !errors.Is(err, ErrTorn) && !errors.Is(err, ErrFormat) {
				t.Errorf("seed %d: %s, byte %d: %v", seed, path, bit/8, err)
			}
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// isPadding reports whether a byte is in the body of an Arrow file but not part of a value.
func isPadding(t *testing.T, m *Manifest, name string, file []byte, at int64) bool {
	t.Helper()
	spans, err := arrowfile.Buffers(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	first, end := int64(len(file)), int64(0)
	for _, s := range spans {
		if s.Bytes > 0 {
			first, end = min(first, s.Offset), max(end, s.Offset+s.Bytes)
		}
	}
	if at < first || at >= end {
		return false
	}
	if name != DataFile {
		return !slices.ContainsFunc(spans, func(s arrowfile.Span) bool {
			return s.Offset <= at && at < s.Offset+s.Bytes
		})
	}
	return !slices.ContainsFunc(m.Columns, func(c ManifestColumn) bool {
		row := (at - c.Offset) / c.Strides[0]
		return at >= c.Offset && row < m.Rows &&
			at-c.Offset-row*c.Strides[0] < max(c.Width(), 1)*c.DType.Size()
	})
}
