package lines

import (
	"errors"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

func TestALongRowIsRefusedWithAHint(t *testing.T) {
	var f File
	_, err := f.Read(nil, source.Span{End: source.MaxRecordBytes + 1, Rows: 1, Row0: 4, Line0: 6})
	var refused *loaderr.SourceError
	if !errors.As(err, &refused) || refused.Row != 5 || refused.Line != 7 || refused.Hint == "" {
		t.Errorf("got %v", err)
	}
}
