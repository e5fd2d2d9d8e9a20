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

// derivedFormat is the version of the files in derived/, bound to what is derived and how. It is
// part of their first bytes.
const derivedFormat = 1

// derivedDir is where in a generation's directory files lie that can be made again from the others.
const derivedDir = "derived"

// derivedHead is what stands before a derived file's content: "TCDERIVE", the format and the length
// of the content as u32 and u64, the generation's digest as 16 bytes, and the content's xxHash64,
// all little-endian.
const derivedHead = 8 + 4 + 8 + 16 + 8

var derivedMagic = []byte("TCDERIVE")

// errDerived is why a derived file is not used: it is torn, or of another format or generation.
var errDerived = errors.New("derived file is not this generation's")

// Kept is [Handle.Derived] for what is worth a file in the generation's directory: it is read where
// there is one, else computed and written. A file that is torn, changed, or another generation's or
// version's is made again. A directory that cannot be written to costs a warning and nothing else.
func Kept[T any](h *Handle, key string, compute func() (T, error), encode func(T) []byte,
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
			h.g.unwritable.Do(func() {
				h.g.store.log.Warn(
					"cannot keep on disk what was derived; it will be found again after a restart",
					"dir", h.g.dir, "error", err)
			})
		}
		return v, nil
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return v.(T), nil
}

func (g *generation) readDerived(key string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(g.dir, derivedDir, layout.FileName("", key, "")))
	if err != nil {
		return nil, err
	}
	if len(b) < derivedHead {
		return nil, fmt.Errorf("%w: it has %d bytes", errDerived, len(b))
	}
	head, err := g.derivedHead(key, b[derivedHead:])
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(b[:derivedHead], head) {
		return nil, errDerived
	}
	return b[derivedHead:], nil
}

// derivedHead binds the key, too: names that differ in case alone are one file on some file
// systems.
func (g *generation) derivedHead(key string, content []byte) ([]byte, error) {
	digest, err := hex.DecodeString(g.manifest.Digest)
	if err != nil || len(digest) != 16 {
		return nil, fmt.Errorf("digest %q is not 32 hex digits", g.manifest.Digest)
	}
	b := append(make([]byte, 0, derivedHead), derivedMagic...)
	b = binary.LittleEndian.AppendUint32(b, derivedFormat)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(content)))
	b = append(b, digest...)
	h := xxhash.New()
	h.WriteString(key)
	h.Write(content) // neither fails
	return binary.LittleEndian.AppendUint64(b, h.Sum64()), nil
}

// writeDerived writes beside and renames. It does not wait for the disk: what a crash tears is made
// again.
func (g *generation) writeDerived(key string, content []byte) error {
	head, err := g.derivedHead(key, content)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(g.store.dir.tmp(), "derived-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // which the rename has taken away
	err = fault.At("derived")
	for _, b := range [][]byte{head, content} {
		if err == nil {
			_, err = f.Write(b)
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	// a generation that was removed is not given a directory again: another may have its name
	g.store.catalogue.mu.Lock()
	defer g.store.catalogue.mu.Unlock()
	if g.gone {
		return nil
	}
	dir := filepath.Join(g.dir, derivedDir)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, layout.FileName("", key, "")))
}
