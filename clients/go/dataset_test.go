package tensorcache

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// newShopDataset stores a small dataset with most dtypes.
func newShopDataset(t *testing.T, c *Cache, o LoadOptions) *Dataset {
	t.Helper()
	o.ItemID, o.Time = []string{"id"}, "t"
	d := must(c.Put(t.Context(), "shop", []PutColumn{
		Texts("id", []string{"b", "b", "b", "a", "a"}),
		Timestamps("t", "s", []int64{10, 20, 30, 10, 20}),
		Values("x", []float32{1, 2, float32(math.NaN()), 4, 5}),
		Values("n", []int64{-1, 2, 3, 1 << 60, 5}),
		Values("open", []bool{true, false, true, true, false}),
		Matrix("m", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2),
		Texts("city", []string{"Köln", "", "Rom", "Köln", "Rom"}),
		Values("h", []layout.Half{layout.HalfOf(1), layout.HalfOf(2), layout.HalfOf(3),
			layout.HalfOf(4), layout.HalfOf(0.5)}),
	}, o))(t)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestColumnsAreSlicesOfTheirTypes(t *testing.T) {
	d := newShopDataset(t, sharedDaemon(t), LoadOptions{})
	if x := must(Column[float32](d, "x"))(t); !slices.Equal(x[3:], []float32{4, 5}) ||
		x[2] == x[2] || len(x) != 5 {
		t.Error("x:", x)
	}
	if n := must(Column[int64](d, "n"))(t); !slices.Equal(n, []int64{-1, 2, 3, 1 << 60, 5}) {
		t.Error("n:", n)
	}
	if o := must(Column[bool](d, "open"))(t); !slices.Equal(o,
		[]bool{true, false, true, true, false}) {
		t.Error("open:", o)
	}
	if m := must(Column[float64](d, "m"))(t); !slices.Equal(m,
		[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
		t.Error("m:", m)
	}
	if ts := must(Column[int64](d, "t"))(t); !slices.Equal(ts, []int64{10, 20, 30, 10, 20}) {
		t.Error("t:", ts)
	}
	if h := must(Column[layout.Half](d, "h"))(t); h[4].Float32() != 0.5 {
		t.Error("h:", h)
	}
	var words []string
	for _, code := range must(Column[int32](d, "city"))(t) {
		words = append(words, must(d.Word("city", code))(t))
	}
	if !slices.Equal(words, []string{"Köln", "", "Rom", "Köln", "Rom"}) {
		t.Error("city:", words)
	}
	if d.Rows() != 5 || d.Items() != 2 || d.Name() != "shop" || len(d.Digest()) != 32 ||
		d.Generation() < 1 {
		t.Error(d.Rows(), d.Items(), d.Name(), d.Digest(), d.Generation())
	}
}

func TestViewsOfPackedColumnsAreNotCopied(t *testing.T) {
	d := newShopDataset(t, sharedDaemon(t), LoadOptions{Layout: "packed", DType: "float32"})
	v := must(View[float32](d, "m"))(t)
	if v.Rows != 5 || v.Width != 2 || !slices.Equal(v.Row(3), []float32{7, 8}) {
		t.Errorf("%+v", v)
	}
	if _, err := Column[float32](d, "m"); !errors.Is(err, InvalidRequest) ||
		!strings.Contains(err.Error(), "View") {
		t.Error(err)
	}
}

func TestItemsAreNamedByTheirValues(t *testing.T) {
	c := sharedDaemon(t)
	d := newShopDataset(t, c, LoadOptions{})
	if v := must(d.Item(0))(t); v != "b" {
		t.Error(v)
	}
	if code := must(d.ItemCode("a"))(t); code != 1 {
		t.Error(code)
	}
	if from, to := d.ItemRows(1); from != 3 || to != 5 {
		t.Error(from, to)
	}
	for _, none := range []any{"c", 7, nil, []any{"a", 1}, 1.5} {
		if _, err := d.ItemCode(none); !errors.Is(err, ItemNotFound) &&
			!errors.Is(err, InvalidSpec) {
			t.Error(none, err)
		}
	}
	two := must(
		c.Put(t.Context(), "two",
			[]PutColumn{Texts("a", []string{"x\"", "x\""}), Values("b", []int64{7, 8}),
				Values("v", []float32{1, 2})}, LoadOptions{ItemID: []string{"a", "b"}}))(t)
	defer two.Close()
	if code := must(two.ItemCode([]any{`x"`, 8}))(t); code != 1 {
		t.Error(code)
	}
	if v := must(two.Item(1))(t); !reflect.DeepEqual(v, []any{`x"`, int64(8)}) {
		t.Error(v)
	}
}

func TestErrorsNameWhatIsAllowed(t *testing.T) {
	c := sharedDaemon(t)
	d := newShopDataset(t, c, LoadOptions{})
	for name, one := range map[string]struct {
		err  error
		is   error
		says string
	}{
		"column": {errorOf(Column[float32](d, "temperature")), ColumnNotFound,
			"its columns: id, t, x"},
		"near column": {errorOf(Column[float32](d, "opem")), ColumnNotFound, "near: open"},
		"type": {errorOf(Column[float64](d, "x")), ErrType,
			`column "x" is float32, so ask for float32 and not for float64`},
		"word":       {errorOf(d.Word("city", 9)), InvalidSpec, "words 0 to"},
		"no text":    {errorOf(d.Word("x", 0)), InvalidSpec, "only text columns have words"},
		"item":       {errorOf(d.ItemCode("bb")), ItemNotFound, "near:"},
		"dataset":    {errorOf(c.Dataset(t.Context(), "shob")), DatasetNotFound, "near: shop"},
		"generation": {errorOf(c.Generation(t.Context(), "shop", 999)), GenerationGone, "999"},
		"digest": {errorOf(c.GenerationOfDigest(t.Context(), "shop", strings.Repeat("0", 32))), GenerationGone,
			"has digest 00000000000000000000000000000000; the newest, "},
		"no digest": {errorOf(c.GenerationOfDigest(t.Context(), "shop", "")), InvalidRequest,
			"want 32 hex digits in lower case"},
		"source": {errorOf(c.Load(t.Context(), "shop", []string{"none-*.csv"}, LoadOptions{})),
			SourceError, `no file matches "none-*.csv"`},
		"option": {errorOf(c.Put(t.Context(), "shop", []PutColumn{Values("x", []float32{1})},
			LoadOptions{Layout: "wide"})), InvalidRequest, "columns or packed"},
		"lengths": {errorOf(
			c.Put(t.Context(), "shop",
				[]PutColumn{Values("x", []float32{1}), Values("y", []float32{1, 2})},
				LoadOptions{})), SourceError, "rows"},
	} {
		if one.err == nil || !errors.Is(one.err, one.is) ||
			!strings.Contains(one.err.Error(), one.says) {
			t.Errorf("%s: got %v, want %v that says %q", name, one.err, one.is, one.says)
		}
	}
}

func TestADigestOpensAnOlderGeneration(t *testing.T) {
	c := sharedDaemon(t)
	put := func(x float32) *Dataset {
		d := must(c.Put(t.Context(), "digests", []PutColumn{Values("x", []float32{x})}, LoadOptions{}))(t)
		t.Cleanup(func() { d.Close() })
		return d
	}
	first := put(1)
	put(2)
	d := must(c.GenerationOfDigest(t.Context(), "digests", first.Digest()))(t)
	defer d.Close()
	if x := must(Column[float32](d, "x"))(t); d.Generation() != first.Generation() || x[0] != 1 {
		t.Errorf("generation %d with %v", d.Generation(), x)
	}
}

func errorOf[V any](_ V, err error) error { return err }

func TestAClosedDatasetReturnsErrClosed(t *testing.T) {
	c := sharedDaemon(t)
	d := newShopDataset(t, c, LoadOptions{})
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Column[float32](d, "x"); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := d.ItemCode("a"); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestLoadAppendListAndRemove(t *testing.T) {
	c := sharedDaemon(t)
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("t,v\n1,1\n2,3\n3,5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := LoadOptions{Time: "t", Scale: map[string]string{"v": "standard"},
		FitRows: &[2]*int64{nil, ptr[int64](2)}}
	d := must(c.Load(t.Context(), "files", []string{path}, o))(t)
	if v := must(Column[float32](d, "v"))(t); !slices.Equal(v, []float32{-1, 1, 3}) {
		t.Error(v)
	}
	again := must(
		c.Load(t.Context(), "files", []string{filepath.Join(filepath.Dir(path), "*.csv")}, o))(t)
	if again.Generation() != d.Generation() {
		t.Errorf("generation %d after %d: the same load again is a hit", again.Generation(),
			d.Generation())
	}
	more := filepath.Join(t.TempDir(), "b.csv")
	if err := os.WriteFile(more, []byte("t,v\n4,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	longer := must(c.Append(t.Context(), "files", []string{more}, AppendOptions{}))(t)
	if v := must(Column[float32](longer, "v"))(t); !slices.Equal(v, []float32{-1, 1, 3, 5}) ||
		d.Rows() != 3 {
		t.Error(v, d.Rows())
	}
	for _, open := range []*Dataset{d, again, longer} {
		if err := open.Close(); err != nil {
			t.Error(err)
		}
	}
	if list := must(c.Datasets(t.Context()))(t); !slices.ContainsFunc(list,
		func(i Info) bool { return i.Dataset == "files" && i.Rows == 4 }) {
		t.Error(list)
	}
	if gone := must(c.Remove(t.Context(), "files"))(t); len(gone) == 0 {
		t.Error(gone)
	}
	if err := os.WriteFile(path, []byte("t,v\n1,1\n2,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Load(t.Context(), "files", []string{path}, o); !errors.Is(err, SourceError) ||
		!strings.Contains(err.Error(), "row 2") {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	o.Progress = func(Job) { cancel() }
	for range 2 { // while it runs, and before it begins
		if _, err := c.Load(ended, "files", []string{more}, o); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	testwait.Until(t, "no job of the load is left", func() bool {
		var jobs wire.Jobs
		if err := c.control.Get(t.Context(), "/v1/jobs", &jobs); err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(jobs.Jobs, func(j wire.Job) bool { return !j.Ended() })
	})
}

func TestPutReturnsARefusalBeforeAllIsSent(t *testing.T) {
	c := sharedDaemon(t)
	much := []PutColumn{Values("x", make([]float64, 4<<20))}
	if _, err := c.Put(t.Context(), "much", much, LoadOptions{Layout: "wide"}); !errors.Is(err,
		InvalidRequest) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Put(ended, "much", much, LoadOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAPutThatChangesNothingMakesNoGeneration(t *testing.T) {
	c := sharedDaemon(t)
	put := func(last float64) int64 {
		d := must(c.Put(t.Context(), "same", []PutColumn{Values("x", []float64{1, last})}, LoadOptions{}))(t)
		defer d.Close()
		return d.Generation()
	}
	first := put(2)
	if again := put(2); again != first {
		t.Errorf("got generation %d, want %d", again, first)
	}
	if other := put(3); other <= first {
		t.Errorf("got generation %d, want one after %d", other, first)
	}
}

func ptr[V any](v V) *V { return &v }

// TestLoadOptionsNameEveryOption compares LoadOptions with the options of package ingest.
func TestLoadOptionsNameEveryOption(t *testing.T) {
	names := func(of reflect.Type) (names []string) {
		for i := range of.NumField() {
			if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name != "-" &&
				name != "sources" && name != "origins" { // of requests with files
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	if got, want := names(reflect.TypeFor[LoadOptions]()),
		names(reflect.TypeFor[ingest.Options]()); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestConnectStartsADaemonIfNoneRunsAndItMay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	if _, err := Connect(t.Context(), Options{Dir: dir, NoStart: true}); !errors.Is(err,
		ErrNoDaemon) {
		t.Error(err)
	}
	t.Setenv("TENSORCACHE_AUTOSTART", "0")
	if _, err := Connect(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrNoDaemon) {
		t.Error(err)
	}
	t.Setenv("TENSORCACHE_AUTOSTART", "")
	t.Setenv("TENSORCACHE_BIN", filepath.Join(dir, "none"))
	if _, err := Connect(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrNoDaemon) ||
		!strings.Contains(err.Error(), "TENSORCACHE_BIN") {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	t.Setenv("TENSORCACHE_BIN", daemonFile)
	if _, err := Connect(ended, Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	c := newDaemon(t)
	pid := c.control.Daemon.PID
	if err := stop(c); err != nil {
		t.Error(err)
	}
	again := must(Connect(t.Context(), Options{Dir: c.Dir()}))(t)
	defer again.Close()
	if again.control.Daemon.PID == pid {
		t.Error("the same daemon after a stop")
	}
}
