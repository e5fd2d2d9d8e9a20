package layout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
)

func TestCheckNamesTheDamagedParts(t *testing.T) {
	for _, layout := range []string{Columns, Packed} {
		for _, rows := range []int64{1, 50, 70_000} {
			for name, damage := range map[string]func(f *os.File, last int64) error{
				"nothing": func(*os.File, int64) error { return nil },
				"a value": func(f *os.File, last int64) error {
					_, err := f.WriteAt([]byte{0x7f}, last+3)
					return err
				},
				"truncated": func(f *os.File, last int64) error { return f.Truncate(last) },
			} {
				t.Run(fmt.Sprint(layout, rows, name), func(t *testing.T) {
					dir := t.TempDir()
					m := write(t, dir, layout, rows)
					d := open(t, dir)
					f, err := os.OpenFile(filepath.Join(dir, DataFile), os.O_WRONLY, 0)
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					lastOf := func(c *ManifestColumn) int64 {
						return c.Offset + (rows-1)*c.Strides[0]
					}
					a, err := m.Column("a")
					if err == nil {
						err = damage(f, lastOf(a))
					}
					if err != nil {
						t.Fatal(err)
					}
					var want []string
					for _, c := range m.Columns {
						if name == "a value" && c.Name == "a" || name == "truncated" &&
							lastOf(&c) >= lastOf(a) {
							want = append(want, fmt.Sprintf("column %q of data.arrow", c.Name))
						}
					}
					if name == "truncated" {
						want = append(want, fmt.Sprintf("data.arrow (%d bytes, want %d)", lastOf(a),
							m.Files[DataFile].Bytes))
					}
					var read atomic.Int64
					err = d.Check(context.Background(), 2, func(n int64) { read.Add(n) })
					var e *DamageError
					switch {
					case want == nil && (err != nil || read.Load() != d.Bytes()):
						t.Errorf("%v after %d of %d bytes", err, read.Load(), d.Bytes())
					case want != nil && (!errors.As(err, &e) || !errors.Is(err, ErrChecksum) ||
						!slices.Equal(e.Parts, want)):
						t.Errorf("got %v, want %q", err, want)
					}
				})
			}
		}
	}
}

func TestCheckStopsWhenItsContextIsCanceled(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, Packed, 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := open(t, dir).Check(ctx, 2, func(int64) {}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestPackedColumnsAreCheckedTogether counts the columns that a check reads together, so that it
// reads each row of packed columns once.
func TestPackedColumnsAreCheckedTogether(t *testing.T) {
	for layout, want := range map[string]int{Columns: len(everyDType), Packed: 18} {
		if got := write(t, t.TempDir(), layout, 3).interleaved(); len(got) != want {
			t.Errorf("%s: %d columns are read as %v, want %d", layout, len(everyDType), got, want)
		}
	}
}
