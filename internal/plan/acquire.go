package plan

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// Acquire acquires the generation that a request names: see [wire.Selection]. The error wraps
// [store.ErrDigest] if no generation has the digest, or another one than the request names has it.
func Acquire(s *store.Store, dataset string, generation int64,
	digest string) (*store.Handle, error) {
	if digest != "" {
		if err := wire.CheckDigest(digest); err != nil {
			return nil, err
		}
	}
	if generation == 0 && digest != "" {
		return s.AcquireDigest(dataset, digest)
	}
	h, err := s.Acquire(dataset, generation)
	if err != nil {
		return nil, err
	}
	if have := h.Data.Manifest.Digest; digest != "" && digest != have {
		h.Release()
		return nil, fmt.Errorf("%w: generation %d of %q has digest %s, the request names %s",
			store.ErrDigest, h.Generation, dataset, have, digest)
	}
	return h, nil
}
