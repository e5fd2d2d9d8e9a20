package api

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func (w *world) items(name, query string) (l wire.Items) {
	w.Helper()
	w.decode(w.do("GET", "/v1/datasets/"+name+"/items"+query, nil), 200, &l)
	return l
}

func TestItemsComePageByPageEachOnce(t *testing.T) {
	w := newWorld(t)
	s := w.publishShown("d", "", 5, 1, 7, 2, 3, 4, 6)
	for limit := 1; limit <= 8; limit++ {
		var seen []wire.Item
		for query := fmt.Sprintf("?limit=%d", limit); ; {
			l := w.items("d", query)
			if l.Count != 7 || len(l.Items) > limit {
				t.Fatalf("%d items of %d, at most %d", len(l.Items), l.Count, limit)
			}
			if seen = append(seen, l.Items...); l.Next == nil {
				break
			}
			query = fmt.Sprintf("?limit=%d&after=%d", limit, *l.Next)
		}
		if len(seen) != len(s.rows) {
			t.Fatalf("%d items in pages of %d, want %d", len(seen), limit, len(s.rows))
		}
		for i, item := range seen {
			at := s.itemOffset(i)
			first, last := time.Unix(s.times[at], 0).UTC().Format(time.RFC3339),
				time.Unix(s.times[at+s.rows[i]-1], 0).UTC().Format(time.RFC3339)
			if want := (wire.Item{ItemCode: int64(i), Item: s.items[i], Rows: s.rows[i],
				FirstTime: first, LastTime: last}); item != want {
				t.Errorf("%+v\nwant %+v", item, want)
			}
		}
	}
}

func TestItemsAreFoundByTheirText(t *testing.T) {
	w := newWorld(t)
	w.decode(w.do("GET", "/v1/datasets", nil), 200, &wire.Datasets{})
	if job := w.load("d",
		map[string]any{"sources": []string{w.source("a.csv",
			"id,n,v\nÄpfel,1,1\nbirne,12,2\nÄpfel,30,3\nBIRNE,4,4\n")},
			"item_id": []string{"id", "n"}}); job.State != wire.JobDone {
		t.Fatalf("%+v", job.Error)
	}
	for text, want := range map[string]string{
		"": "0 1 2 3", "birne": "1 3", "BIR": "1 3", "äPF": "0 2", "1": "0 1", "fel, 3": "2",
		"x": "", "%": "", "birne, 12": "1",
	} {
		l := w.items("d", "?search="+url.QueryEscape(text))
		var got []string
		for _, i := range l.Items {
			got = append(got, fmt.Sprint(i.ItemCode))
		}
		if strings.Join(got, " ") != want || l.Count != int64(len(got)) {
			t.Errorf("%q finds %v of %d, want %s", text, got, l.Count, want)
		}
	}
	l := w.items("d", "?search=fel&limit=1")
	if len(l.Items) != 1 || l.Count != 2 || l.Next == nil || *l.Next != 0 {
		t.Fatalf("%+v", l)
	}
	if l = w.items("d", "?search=fel&limit=1&after=0"); len(l.Items) != 1 || l.Items[0].ItemCode != 2 ||
		l.Next != nil {
		t.Errorf("%+v", l)
	}
	if got := fmt.Sprint(l.Items[0].Item); got != "[Äpfel 30]" || l.Items[0].FirstTime != nil {
		t.Errorf("%+v", l.Items[0])
	}
}

func TestInvalidQueriesAreRefused(t *testing.T) {
	w := newWorld(t)
	w.publishShown("d", "", 2000, 3)
	for path, says := range map[string]string{
		"items?limit=0":                         `limit: got "0", want a whole number from 1 to 1000`,
		"items?limit=1001":                      `limit: got "1001"`,
		"items?after=x":                         `after: got "x"`,
		"items?serch=a":                         `there is no parameter "serch" here, want after, generation, limit, search`,
		"items?limit=1&limit=2":                 "limit: is given more than once",
		"items?generation=7":                    "",
		"rows?item=1":                           "no item is named 1",
		"rows?item=A":                           `item: got "A", want an item's value as JSON`,
		"rows?item=1,2":                         `want an item's value as JSON`,
		"rows?item_code=2":                      "item_code: got 2, want a code from 0 to 1",
		"rows?item_code=0&item=1":               "item: given together with item_code",
		"rows?from=a":                           `from: got "a"`,
		"rows?to=1001":                          "to: got rows 0 to 1001, want at most 1000 rows",
		"rows?columns=ff":                       `no column is named "ff"; near: f`,
		`rows?columns=["f"`:                     "want names as a,b",
		"rows?format=csv":                       `format: got "csv", want json or arrow`,
		"series?item_code=9":                    "item_code: got 9, want a code from 0 to 1",
		"series?points=0":                       `points: got "0"`,
		"series?from=2001":                      `from: got "2001", want a whole number from 0 to 2000`,
		"series?from=5&to=4":                    `to: got "4", want a whole number from 5 to 2000`,
		"series?columns=w[3]":                   `no column is named "w[3]"`,
		"series?columns=f,f" + repeat(",f", 63): "want at most 64",
	} {
		before, query, _ := strings.Cut(path, "?")
		p := w.decodeProblem(
			w.do("GET", "/v1/datasets/d/"+before+"?"+strings.ReplaceAll(query, `"`, "%22"), nil))
		if !strings.Contains(p.Detail, says) || p.Field == "" || p.Status/100 != 4 {
			t.Errorf("%s: %+v, want %q", path, p, says)
		}
	}
	for _, route := range []string{"items", "rows", "series"} {
		w.wantProblem(w.do("GET", "/v1/datasets/none/"+route, nil), wire.DatasetNotFound, "none")
	}
}

func repeat(text string, n int) string { return strings.Repeat(text, n) }
