package api

import (
	"bytes"
	"fmt"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func (w *world) rows(name, query string) (r wire.Rows) {
	w.Helper()
	w.decode(w.do("GET", "/v1/datasets/"+name+"/rows"+query, nil), 200, &r)
	return r
}

func TestRowsAreThoseOfAPythonSlice(t *testing.T) {
	w := newWorld(t)
	s := w.publishShown("d", "packed", 30, 7)
	columns := []string{"id", "t", "f", "g,1", "i", "b", "w", "s"}
	for i, v := range s.times {
		s.values["t"] = append(s.values["t"], any(time.Unix(v, 0).UTC().Format(time.RFC3339)))
		_ = i
	}
	for _, item := range []int{-1, 0, 1} {
		n, first, query := int64(37), int64(0), ""
		if item >= 0 {
			n, first, query = s.rows[item], s.itemOffset(item), "&item="+
				url.QueryEscape(string(asJSON(s.items[item])))
		}
		for _, test := range [][4]int64{{0, 20, 0, min(20, n)}, {-3, n, n - 3, n},
			{-100, -2, 0, n - 2}, {5, 2, 5, 5}, {n, n + 9, n, n}} {
			r := w.rows("d", fmt.Sprintf("?from=%d&to=%d%s", test[0], test[1], query))
			if r.From != test[2] || r.To != test[3] || r.Count != n ||
				!reflect.DeepEqual(r.Columns, columns) {
				t.Fatalf("%d to %d of %d, columns %v; want %d to %d of %d", r.From, r.To, r.Count,
					r.Columns, test[2], test[3], n)
			}
			for k, row := range r.Rows {
				for j, name := range columns {
					want := s.values[name][first+r.From+int64(k)]
					if !reflect.DeepEqual(row[j], want) {
						t.Fatalf("row %d, column %q: %v, want %v", k, name, row[j], want)
					}
				}
			}
			if int64(len(r.Rows)) != r.To-r.From {
				t.Fatalf("%d rows from %d to %d", len(r.Rows), r.From, r.To)
			}
		}
	}
	if r := w.rows("d", ""); r.From != 0 || r.To != 20 || r.Count != 37 {
		t.Errorf("%d to %d of %d", r.From, r.To, r.Count)
	}
	if r := w.rows("d", "?from=-3"); r.From != 34 || r.To != 37 {
		t.Errorf("%d to %d", r.From, r.To)
	}
	if r := w.rows("d", `?item_code=1&columns=%5B%22g,1%22%5D`); len(r.Rows) != 7 ||
		len(r.Rows[0]) != 1 || !reflect.DeepEqual(r.Rows[0][0], s.values["g,1"][30]) {
		t.Errorf("%+v", r)
	}
}

func TestRowsOfAnArrowStreamAreAStream(t *testing.T) {
	w := newWorld(t)
	w.publishShown("d", "", 30)
	a := w.do("GET", "/v1/datasets/d/rows?format=arrow&to=9", nil)
	if a.status != 200 || a.header.Get("Content-Type") != "application/vnd.apache.arrow.stream" ||
		!bytes.HasPrefix(a.body, []byte{0xff, 0xff, 0xff, 0xff}) {
		t.Errorf("%d of %s: %.9q", a.status, a.header.Get("Content-Type"), a.body)
	}
}
