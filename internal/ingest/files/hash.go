package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/layout"
)

// HashSources returns a copy of sources with the xxHash64 (seed 0) of their bytes, as 16
// hexadecimal digits. It reads each file once; each worker reads one file at a time.
//
// It calls report, from several goroutines, with the number of bytes of each read. If a file
// has changed since Stat, the error is a [loaderr.SourceError].
func (r AllowedRoots) HashSources(
	ctx context.Context, sources []layout.Source, workers int, report func(bytes int64),
) ([]layout.Source, error) {
	out := slices.Clone(sources)
	err := parallel.For(ctx, workers, len(out), "", func(_, i int) (err error) {
		out[i].XXH64, err = r.hashFile(ctx, out[i].Path, report)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, r.Unchanged(sources)
}

// hashFile returns the xxHash64 of one file.
func (r AllowedRoots) hashFile(ctx context.Context, path string,
	report func(bytes int64)) (string, error) {
	f, err := r.Open(path)
	if err != nil {
		return "", AsSourceError(path, err)
	}
	defer f.Close()
	h := xxhash.New()
	buf := make([]byte, BlockBytes)
	for ctx.Err() == nil {
		n, err := f.Read(buf)
		_, _ = h.Write(buf[:n]) // never fails
		report(int64(n))
		if errors.Is(err, io.EOF) {
			return fmt.Sprintf("%016x", h.Sum64()), nil
		}
		if err != nil {
			return "", AsSourceError(path, err)
		}
	}
	return "", ctx.Err()
}
