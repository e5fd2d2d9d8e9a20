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

// HashSources gives the sources with the xxHash64 (seed 0) of their bytes, which costs reading them once: several files at
// once, each by one worker. tell is called with the number of bytes read since. A file that is no longer the one that was
// looked at is a [SourceError].
func (r AllowedRoots) HashSources(ctx context.Context, sources []layout.Source, workers int, report func(bytes int64)) ([]layout.Source, error) {
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

func (r AllowedRoots) hashFile(ctx context.Context, path string, report func(bytes int64)) (string, error) {
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
