package pagecache

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

func create(t testing.TB, content []byte) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "x"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestReadsAndWritesAreThoseOfAnOrdinaryFile(t *testing.T) {
	whole := make([]byte, 10_000)
	for i := range whole {
		whole[i] = byte(i * i)
	}
	one, two := create(t, whole), create(t, whole)
	rapid.Check(t, func(r *rapid.T) {
		at := int64(rapid.IntRange(-3, 12_000).Draw(r, "at"))
		a, b := make([]byte, rapid.IntRange(0, 5000).Draw(r, "n")), []byte(nil)
		b = append(b, a...)
		n, err := File{one}.ReadAt(a, at)
		m, want := two.ReadAt(b, at)
		if n != m || !bytes.Equal(a, b) || !alike(err, want) {
			r.Fatalf("read %d bytes and %v, an ordinary file %d and %v", n, err, m, want)
		}
		at = int64(rapid.IntRange(-3, 10_000).Draw(r, "to"))
		n, err = File{one}.WriteAt(a, at)
		m, want = two.WriteAt(b, at)
		if n != m || !alike(err, want) {
			r.Fatalf("wrote %d bytes and %v, an ordinary file %d and %v", n, err, m, want)
		}
	})
	x, err := io.ReadAll(io.NewSectionReader(File{one}, 0, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	if y, err := io.ReadAll(io.NewSectionReader(two, 0, 1<<20)); err != nil || !bytes.Equal(x, y) {
		t.Errorf("the files differ: %d and %d bytes, %v", len(x), len(y), err)
	}
}

// alike reports whether errors are equal except for the name of the file.
func alike(a, b error) bool {
	var x, y *os.PathError
	if errors.As(a, &x) && errors.As(b, &y) {
		return x.Op == y.Op && x.Err.Error() == y.Err.Error()
	}
	return errors.Is(a, b) || a == nil && b == nil
}

func TestWhatFailsIsAnErrorThatNamesTheFile(t *testing.T) {
	f := create(t, []byte("abc"))
	r, err := os.Open(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	var failed *os.PathError
	if n, err := (File{r}).WriteAt([]byte("x"), 0); n != 0 || !errors.As(err, &failed) ||
		failed.Path != f.Name() || !errors.Is(err, syscall.EBADF) {
		t.Errorf("writing a file that is open for reading: %d, %v", n, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := (File{r}).ReadAt(make([]byte, 1), 0); n != 0 || !errors.Is(err, os.ErrClosed) {
		t.Errorf("reading a closed file: %d, %v", n, err)
	}
}
