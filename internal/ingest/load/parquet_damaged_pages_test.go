package load

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestErrorsOfDamagedPagesNameThePage damages the pages and dictionaries of two row groups, one at
// a time. The error must name the row group, the column and the page.
func TestErrorsOfDamagedPagesNameThePage(t *testing.T) {
	type row struct {
		Words string `parquet:"words,dict"`
		Wide  int64  `parquet:"wide,dict"`
		Plain int64  `parquet:"plain,delta"`
		Truth bool   `parquet:"truth"`
	}
	rows := make([]row, 4000)
	for i := range rows {
		rows[i] = row{strconv.Itoa(i % 1000), int64(i % 1000), int64(i * i * i), i%3 == 0}
	}
	var whole bytes.Buffer
	w := parquet.NewGenericWriter[row](&whole, parquet.Compression(&parquet.Snappy),
		parquet.PageBufferSize(1000), parquet.MaxRowsPerRowGroup(2000))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(whole.Bytes()), int64(whole.Len()))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	damaged := 0
	for g, group := range file.Metadata().RowGroups {
		for _, chunk := range group.Columns {
			m := &chunk.MetaData
			at, page := m.DataPageOffset, 0
			if m.DictionaryPageOffset > 0 {
				at = m.DictionaryPageOffset
			}
			for end := at + m.TotalCompressedSize; at < end; {
				r := bufio.NewReader(
					io.NewSectionReader(bytes.NewReader(whole.Bytes()), at, end-at))
				var h format.PageHeader
				if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(r)).Decode(
					&h); err != nil {
					t.Fatal(err)
				}
				head, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
				if err != nil {
					t.Fatal(err)
				}
				want := fmt.Sprintf(
					"x.parquet, row group %d, column %q: its dictionary cannot be decoded", g+1,
					m.PathInSchema[0])
				if h.Type != format.DictionaryPage {
					page++
					want = fmt.Sprintf(
						"x.parquet, row group %d, column %q, page %d: cannot be decoded", g+1,
						m.PathInSchema[0], page)
				}
				b := bytes.Clone(whole.Bytes())
				b[at+int64(len(head))+int64(h.CompressedPageSize)/2] ^= 0xff
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				_, _, err = loadInProcess(t,
					option.Options{Sources: []string{path}, Columns: []string{m.PathInSchema[0]}})
				loadtest.Refused(t, err, want, loaderr.HintDamaged)
				at += int64(len(head)) + int64(h.CompressedPageSize)
				damaged++
			}
		}
	}
	if damaged < 30 {
		t.Errorf("only %d pages were damaged", damaged)
	}
}
