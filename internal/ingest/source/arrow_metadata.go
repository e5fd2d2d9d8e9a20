package source

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Roots of Arrow's flatbuffers.
const (
	FlatMessage = arrowmeta.Message
	FlatFooter  = arrowmeta.Footer
)

// CheckArrowMetadata refuses metadata of Arrow that is not built as its format says.
func CheckArrowMetadata(b []byte, root string) error {
	if arrowmeta.Check(b, root) {
		return nil
	}
	return &loaderr.SourceError{Reason: fmt.Sprintf("has metadata of %d bytes that cannot be read", len(b)), Hint: loaderr.HintDamaged}
}
