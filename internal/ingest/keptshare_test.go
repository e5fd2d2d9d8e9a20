package ingest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyRowsThatAreKeptArePlannedToBeSorted ends loads with filters when all rows are read, by an item that nobody has, and looks at what they
// expected before they knew how many are kept.
func TestOnlyRowsThatAreKeptArePlannedToBeSorted(t *testing.T) {
	const rows = 4000 // every 40th is kept. Items are integers in CSV, and texts in Parquet.
	text := strings.Builder{}
	text.WriteString("id,t,x\n")
	var groups []groupedRow
	all := []json.RawMessage{[]byte(`"nobody"`)}
	for i := range rows {
		fmt.Fprintf(&text, "%d,%d,%d.5\n", i%40, rows-i, i)
		groups = append(groups, groupedRow{ID: fmt.Sprint(i % 40), T: int64(rows - i), X: float64(i)})
		if i < 40 {
			all = append(all, json.RawMessage(fmt.Sprint(i)))
		}
	}
	grouped := filepath.Join(t.TempDir(), "a.parquet")
	parquetGroups(t, grouped, groups, 500)
	for name, path := range map[string]string{"CSV": source(t, "a.csv", text.String()), "Parquet": grouped} {
		for filter, o := range map[string]Options{
			"items": {Items: all[:2]},
			"times": {Items: all, Where: &Where{Time: []json.RawMessage{nil, []byte("101")}}},
		} {
			t.Run(name+", "+filter, func(t *testing.T) {
				m := &meter{}
				o.Sources, o.ItemID, o.Time, o.Sort = []string{path}, []string{"id"}, "t", true
				_, err := (Job{Dir: t.TempDir(), Options: o}).load(t.Context(), nil, m)
				if err == nil || !strings.Contains(err.Error(), "nobody") {
					t.Fatal(err)
				}
				for _, p := range *m.plan.Load() {
					if p.phase == phaseArrange && (p.cost > rows*costSort/20 || p.cost < rows/40*costSort) {
						t.Errorf("arranging %d of %d rows costs %v", rows/40, rows, p.cost)
					}
				}
			})
		}
	}
}
