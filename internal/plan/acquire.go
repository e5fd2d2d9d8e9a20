package plan

import (
	"fmt"

	"github.com/tensorcache/tensorcache/store"
)

// Acquire acquires the generation that a request names. If a digest is given, the generation must
// have it; else the error wraps [store.ErrGone].
func Acquire(s *store.Store, dataset string, generation int64,
	digest string) (*store.Handle, error) {
	h, err := s.Acquire(dataset, generation)
	if err != nil {
		return nil, err
	}
	if have := h.Data.Manifest.Digest; digest != "" && digest != have {
		h.Release()
		return nil, fmt.Errorf("%w: generation %d of %q now has digest %s, the request names %s",
			store.ErrGone, h.Generation, dataset, have, digest)
	}
	return h, nil
}
