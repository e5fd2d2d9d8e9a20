package parquet

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// TestDeclaredLengthsDoNotAllocateMemory declares very many bytes in the statistics of a page, and
// very many row groups in a footer.
func TestDeclaredLengthsDoNotAllocateMemory(t *testing.T) {
	many := binary.AppendUvarint(nil, 1<<28)
	page := append([]byte{0x5c, 0x5c, 0x18}, many...) // DataPageHeader, Statistics, max
	footer := append([]byte{0x49, 0xfc}, many...)     // row_groups
	path := filepath.Join(t.TempDir(), "x.parquet")
	file := append([]byte(Magic), footer...)
	file = append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), Magic...)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, open := Open(path, files.NewFile(f), source.Settings{Workers: 1})
	m := format.ColumnMetaData{DataPageOffset: 4, TotalCompressedSize: int64(len(page))}
	_, checked := checkPages(bytes.NewReader(append([]byte(Magic), page...)), &m, 100)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
	loadtest.Refused(t, open,
		"its footer cannot be read: a list of 268435456 elements in 0 bytes", loaderr.HintDamaged)
	loadtest.Refused(t, checked, "its header cannot be read", loaderr.HintDamaged)
}
