package source

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Root tables of Arrow's flatbuffers.
const (
	FlatMessage = arrowmeta.Message
	FlatFooter  = arrowmeta.Footer
)

// CheckArrowMetadata returns an error if b is not valid Arrow metadata with the given root table:
// [FlatMessage] or [FlatFooter].
func CheckArrowMetadata(b []byte, root string) error {
	if arrowmeta.Check(b, root) {
		return nil
	}
	return &loaderr.SourceError{
		Reason: fmt.Sprintf("has metadata of %d bytes that cannot be read", len(b)),
		Hint:   loaderr.HintDamaged,
	}
}
