package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/layout"
)

// derivedFormat is the version of the derived files. It changes when the format, or what is
// derived, changes.
const derivedFormat = 1

// derivedDir is the directory of a generation's derived files, which can be computed again from its
// other files.
const derivedDir = "derived"

// derivedHeaderBytes is the size of a derived file's header: "TCDERIVE", the format as u32, the
// length of the content as u64, the generation's digest as 16 bytes, and the xxHash64 of key and
// content as u64. Integers are little-endian.
const derivedHeaderBytes = 8 + 4 + 8 + 16 + 8

var derivedMagic = []byte("TCDERIVE")

// errDerived is returned when a derived file is incomplete, or of another format or generation.
var errDerived = errors.New("derived file is not this generation's")

// DerivedFile is [Handle.Derived] for a value that is also stored in a file of the generation's
// directory. DerivedFile reads the file if it exists; otherwise it computes the value and writes
// the file. It replaces a file that is incomplete, changed, or of another generation or version. If
// it cannot write, it logs a warning.
func DerivedFile[T any](h *Handle, key string, compute func() (T, error), encode func(T) []byte,
	decode func([]byte) (T, error)) (T, error) {
	v, err := h.Derived(key, func() (any, error) {
		content, err := h.g.readDerived(key)
		if err == nil {
			var v T
			if v, err = decode(content); err == nil {
				return v, nil
			}
		}
		if !errors.Is(err, os.ErrNotExist) {
			h.g.store.log.Warn("made a derived file again", "dir", h.g.dir, "what", key,
				"error", err)
		}
		v, err := compute()
		if err != nil {
			return nil, err
		}
		if err := h.g.writeDerived(key, encode(v)); err != nil {
			h.g.warnUnwritable(err)
		}
		return v, nil
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return v.(T), nil
}

// warnUnwritable logs, once for the generation, that derived files cannot be written.
func (g *generation) warnUnwritable(err error) {
	g.unwritable.Do(func() {
		g.store.log.Warn(
			"cannot keep on disk what was derived; it will be found again after a restart",
			"dir", g.dir, "error", err)
	})
}

func (g *generation) readDerived(key string) ([]byte, error) {
	b, err := os.ReadFile(g.derivedPath(key))
	if err != nil {
		return nil, err
	}
	return g.checkDerived(key, b)
}

// checkDerived returns the content of a derived file. The error wraps errDerived if the file is not
// complete, or not of this key and generation.
func (g *generation) checkDerived(key string, b []byte) ([]byte, error) {
	if len(b) < derivedHeaderBytes {
		return nil, fmt.Errorf("%w: it has %d bytes", errDerived, len(b))
	}
	header, err := g.derivedHeader(key, b[derivedHeaderBytes:])
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(b[:derivedHeaderBytes], header) {
		return nil, errDerived
	}
	return b[derivedHeaderBytes:], nil
}

// derivedHeader returns the header of a derived file. Its hash includes the key because, on some
// file systems, names that differ only in case are one file.
func (g *generation) derivedHeader(key string, content []byte) ([]byte, error) {
	digest, err := hex.DecodeString(g.manifest.Digest)
	if err != nil || len(digest) != 16 {
		return nil, fmt.Errorf("digest %q is not 32 hex digits", g.manifest.Digest)
	}
	b := append(make([]byte, 0, derivedHeaderBytes), derivedMagic...)
	b = binary.LittleEndian.AppendUint32(b, derivedFormat)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(content)))
	b = append(b, digest...)
	h := xxhash.New()
	h.WriteString(key)
	h.Write(content) // neither fails
	return binary.LittleEndian.AppendUint64(b, h.Sum64()), nil
}

// writeDerived writes a temporary file and renames it. It does not sync: after a crash, a file that
// is incomplete is computed again.
func (g *generation) writeDerived(key string, content []byte) error {
	header, err := g.derivedHeader(key, content)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(g.store.dir.tmp(), "derived-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename
	err = fault.At("derived")
	for _, b := range [][]byte{header, content} {
		if err == nil {
			_, err = f.Write(b)
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	// Do not create the directory of a generation that is gone: another may have the same name.
	g.store.catalogue.mu.Lock()
	defer g.store.catalogue.mu.Unlock()
	if g.gone {
		return nil
	}
	dir := filepath.Join(g.dir, derivedDir)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return os.Rename(f.Name(), g.derivedPath(key))
}

// derivedBytes returns the sizes of the generation's derived files, 0 if they cannot be listed.
func (g *generation) derivedBytes() (n int64) {
	_ = g.eachDerived(func(_ string, info os.FileInfo) { n += info.Size() })
	return n
}

// eachDerived calls f with each derived file of the generation.
func (g *generation) eachDerived(f func(path string, info os.FileInfo)) error {
	dir := filepath.Join(g.dir, derivedDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it was removed in the meantime
			f(filepath.Join(dir, e.Name()), info)
		}
	}
	return nil
}

// derivedPath returns the path of a derived file.
func (g *generation) derivedPath(key string) string {
	return filepath.Join(g.dir, derivedDir, layout.FileName("", key, ""))
}
