package arrow

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// checkMetadata returns an error if b is not valid Arrow metadata with the given root table:
// [arrowmeta.Message] or [arrowmeta.Footer].
func checkMetadata(b []byte, root string) error {
	if arrowmeta.Check(b, root) {
		return nil
	}
	return &loaderr.SourceError{
		Reason: fmt.Sprintf("has metadata of %d bytes that cannot be read", len(b)),
		Hint:   loaderr.HintDamaged,
	}
}
