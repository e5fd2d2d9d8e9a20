package feed

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/storetest"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
)

// drawnDataset is a random dataset. Its values are also stored as float64, which represents all of
// them exactly.
type drawnDataset struct {
	layout  string
	columns []layout.Column // value columns only
	values  map[string][][]float64
	rows    []int64  // of each item
	names   []string // of the items; empty if the only item has no name
	timed   bool     // whether it has times
	filled  map[string][][]bool
}

func (data *drawnDataset) offset(item int64) (at int64) {
	for _, n := range data.rows[:item] {
		at += n
	}
	return at
}

func (data *drawnDataset) column(name string) layout.Column {
	for _, c := range data.columns {
		if c.Name == name {
			return c
		}
	}
	panic(name)
}

// constant is the name of a column that is constant in each item. itemNames need escapes in JSON.
const constant = "constant"

var itemNames = []string{"MSFT", `quo"ted`, "<b>&amp;</b>", "Zürich"}

func drawDataset(t *rapid.T) *drawnDataset {
	data := &drawnDataset{
		layout: rapid.SampledFrom([]string{layout.Columns, layout.Packed}).Draw(t, "layout"),
		values: map[string][][]float64{},
	}
	alike := rapid.Bool().Draw(t, "columns are alike") // so that several columns are moved at once
	for i := range rapid.SampledFrom([]int{1, 2, 3, 7, 8, 8, 9, 15, 17}).Draw(t, "columns") {
		c := layout.Column{Name: fmt.Sprintf("c%d", i), Role: layout.RoleValue}
		if alike && i > 0 {
			c.DType, c.Width = data.columns[0].DType, data.columns[0].Width
		} else {
			c.DType, c.Width = drawDType(t),
				rapid.SampledFrom([]int64{0, 0, 0, 0, 1, 3}).Draw(t, "width")
		}
		if c.DType == layout.Duration {
			c.Unit = "ms"
		}
		data.columns = append(data.columns, c)
	}
	c := layout.Column{Name: constant, Role: layout.RoleValue, DType: data.columns[0].DType}
	if !alike || !c.DType.IsNumeric() {
		c.DType = layout.Float32 // so that windows without column names have a column
	}
	data.columns = append(data.columns, c)
	items := rapid.IntRange(1, len(itemNames)).Draw(t, "items")
	for range items {
		data.rows = append(data.rows,
			rapid.SampledFrom([]int64{0, 7, 20, 26, 31, 40}).Draw(t, "rows"))
	}
	if items > 1 {
		data.names = itemNames[:items]
	}
	defer data.drawFilled(t)
	data.timed = rapid.Bool().Draw(t, "timed")
	nan := rapid.SampledFrom([]int{0, 0, 0, 5, 40}).Draw(t, "NaNs in a hundred")
	random := rapid.Uint64().Draw(t, "values")
	for _, c := range data.columns {
		for item, n := range data.rows {
			for range n {
				row := make([]float64, max(c.Width, 1))
				for j := range row {
					random = random*6364136223846793005 + 1442695040888963407
					switch {
					case c.Name == constant:
						row[j] = float64(item % 2)
					case c.DType == layout.Bool:
						row[j] = float64(random >> 63)
					case c.DType == layout.Text:
						row[j] = float64(random>>62) - 1
					case c.DType.IsFloat() && int(random>>32%100) < nan:
						row[j] = math.NaN()
					case c.DType == layout.Float16:
						row[j] = float64(random>>53) - 1024
					case c.DType.IsInteger() && c.DType.Size() < 4:
						row[j] = float64(random >> 57)
					case c.DType == layout.Uint32 || c.DType == layout.Uint64:
						row[j] = float64(random >> 40)
					default:
						// An integer that is exact in a float32.
						row[j] = float64(int64(random>>40) - 1<<23)
					}
				}
				data.values[c.Name] = append(data.values[c.Name], row)
			}
		}
	}
	return data
}

func drawDType(t *rapid.T) layout.DType {
	return rapid.SampledFrom([]layout.DType{
		layout.Float32, layout.Float32, layout.Float64, layout.Int32, layout.Int64, layout.Bool,
		layout.Float16, layout.Int8, layout.Int16,
		layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64, layout.Duration, layout.Text,
	}).Draw(t, "dtype")
}

// publish writes the dataset into the store.
func (data *drawnDataset) publish(t tb, env *testEnv, name string) {
	t.Helper()
	table := layout.Table{Layout: data.layout, Rows: data.offset(int64(len(data.rows))),
		Columns: data.columns}
	final := layout.Final{Items: layout.Items{}, Prepared: data.prepared()}
	for i := range len(data.rows) + 1 {
		final.Items.Offsets = append(final.Items.Offsets, data.offset(int64(i)))
	}
	if data.names != nil {
		final.ItemID = []string{"id"}
		final.Vocab = map[string][]string{"id": data.names}
		final.Items.Values = []layout.ItemValues{{Name: "id", Texts: data.names}}
		table.Columns = append(
			[]layout.Column{{Name: "id", Role: layout.RoleItemID, DType: layout.Text}},
			data.columns...)
	}
	if data.timed {
		final.Time = timeColumn
		table.Columns = append(slices.Clip(table.Columns),
			layout.Column{Name: timeColumn, Role: layout.RoleTime, DType: layout.Int64})
	}
	storetest.Publish(t, env.store, name, table, final, func(w *layout.Writer) {
		for i, c := range table.Columns {
			switch c.Role {
			case layout.RoleItemID:
			case layout.RoleTime:
				storeColumn(w.Column(i, layout.Random), data.times())
			default:
				storeColumn(w.Column(i, layout.Random), data.values[c.Name])
			}
		}
	})
}

// drawnFeed is a random request of a feed. Its fields have the meaning of the fields of the spec
// and of the request.
type drawnFeed struct {
	c, p, gap, overlap, stride, dilation, least int64 // least is min_context
	share                                       float64
	anyMissing                                  bool
	context, target, known, static              []string
	dtype                                       string // "" keeps the stored dtype
	replace                                     *float64
	pad                                         float64 // pad_value
	first, mask                                 bool    // channels_first
	rows                                        []int64 // a cut by rows; nil if there is none
	items                                       []int64 // a cut by items; nil if there is none
	options                                     sampler.Options
	slots                                       int
	spec                                        map[string]any
	delivery                                    string
	queue                                       bool
	asked                                       []drawnPart // parts of the request; nil if it has none
}

// hasPlacesOnly reports whether slots contain places and no values.
func (f *drawnFeed) hasPlacesOnly() bool { return f.delivery != batch.Slot }

func drawFeed(t *rapid.T, data *drawnDataset) *drawnFeed {
	f := &drawnFeed{
		c:        rapid.Int64Range(1, 6).Draw(t, "context_length"),
		p:        rapid.Int64Range(0, 4).Draw(t, "prediction_length"),
		stride:   rapid.Int64Range(1, 4).Draw(t, "stride"),
		dilation: rapid.SampledFrom([]int64{1, 1, 2, 3}).Draw(t, "dilation"),
		first:    rapid.Bool().Draw(t, "channels_first"), mask: rapid.Bool().Draw(t, "mask"),
		slots: rapid.SampledFrom([]int{0, 3, 4, 9}).Draw(t, "slots"),
	}
	if f.p > 0 {
		f.gap = rapid.SampledFrom([]int64{0, 0, 1, 3}).Draw(t, "gap")
		f.overlap = rapid.Int64Range(0, f.c+f.gap).Draw(t, "overlap")
	}
	f.least = rapid.SampledFrom([]int64{f.c, f.c, 0, f.c / 2}).Draw(t, "min_context")
	f.spec = map[string]any{"context_length": f.c, "prediction_length": f.p, "gap": f.gap,
		"overlap": f.overlap, "stride": f.stride, "dilation": f.dilation, "min_context": f.least}
	switch rapid.IntRange(0, 3).Draw(t, "missing") {
	case 0:
		f.share = rapid.SampledFrom([]float64{0.1, 0.3, 0.5}).Draw(t, "max_missing")
		f.spec["max_missing"] = f.share
	case 1, 2:
		f.anyMissing = true
		f.spec["max_missing"] = nil
	}
	if rapid.Bool().Draw(t, "replaces") {
		f.replace = new(float64)
		*f.replace = -7
		f.spec["missing_value"] = -7
	}
	f.drawColumns(t, data)
	f.drawDType(t, data)
	f.drawPadValue(t, data)
	f.drawCuts(t, data)
	f.drawOptions(t, data)
	return f
}

// drawColumns draws columns in any order, or leaves them to their defaults. Roles that exclude each
// other have no common column.
func (f *drawnFeed) drawColumns(t *rapid.T, data *drawnDataset) {
	var all []string
	for _, c := range data.columns {
		all = append(all, c.Name)
	}
	choose := func(name string, from []string, most int) []string {
		return rapid.Permutation(from).Draw(t,
			name)[:rapid.IntRange(1, most).Draw(t, "chosen "+name)]
	}
	if rapid.Bool().Draw(t, "static") {
		f.static = []string{constant}
		f.spec["static_columns"] = f.static
		all = without(all, f.static)
	}
	if len(all) > 1 && rapid.IntRange(0, 2).Draw(t, "has known") == 0 {
		f.known = choose("known_columns", all, len(all)-1)
		f.spec["known_columns"] = f.known
	}
	open := without(all, f.known)
	switch rapid.IntRange(0, 2).Draw(t, "columns by") {
	case 0: // defaults: all numbers; without static columns, and the target also without known ones
		f.context = slices.DeleteFunc(slices.Clone(all),
			func(name string) bool { return !data.column(name).DType.IsNumeric() })
		f.target = without(f.context, f.known)
		if len(f.context) == 0 {
			f.context = all
			f.spec["context_columns"] = all
		}
		if len(f.target) == 0 && f.p > 0 {
			f.target = choose("target_columns", open, len(open))
			f.spec["target_columns"] = f.target
		}
	case 1:
		f.context = choose("columns", all, len(all))
		if rapid.Bool().Draw(t, "in order") {
			f.context = all[:len(f.context)]
		}
		f.target = f.context
		f.spec["columns"] = f.context
	case 2:
		f.context = choose("context_columns", all, len(all))
		f.spec["context_columns"] = f.context
		if f.p > 0 {
			f.target = choose("target_columns", open, len(open))
			f.spec["target_columns"] = f.target
		}
	}
	if f.p == 0 {
		f.target = nil
	}
}

// drawDType draws a dtype to which all columns can be converted.
func (f *drawnFeed) drawDType(t *rapid.T, data *drawnDataset) {
	fit, stored := []string{"float32", "float64"}, true
	whole := map[layout.DType]bool{layout.Int32: true, layout.Int64: true}
	var first layout.DType
	same := true // all parts have the same dtype
	for _, part := range [][]string{f.context, f.target, f.known, f.static} {
		for _, name := range part {
			d := data.column(name).DType.Plain()
			for to := range whole {
				whole[to] = whole[to] && to.Holds(d)
			}
			stored = stored && d == data.column(part[0]).DType.Plain()
			if first == "" {
				first = d
			}
			same = same && d == first
		}
	}
	for _, to := range []layout.DType{layout.Int32, layout.Int64} {
		if whole[to] {
			fit = append(fit, string(to))
		}
	}
	if stored {
		fit = append(fit, "", "")
	}
	if same {
		fit = append(fit, string(first))
	}
	f.dtype = rapid.SampledFrom(fit).Draw(t, "dtype")
	f.spec["dtype"] = f.dtype
	if f.dtype == "" {
		f.spec["dtype"] = nil
	}
}

// drawPadValue draws a value of padding that all parts hold.
func (f *drawnFeed) drawPadValue(t *rapid.T, data *drawnDataset) {
	values := []float64{0, 1}
	isFloat := func(name string) bool { return data.column(name).DType.IsFloat() }
	stored := slices.Concat(f.context, f.target, f.known)
	if f.dtype == "float32" || f.dtype == "float64" ||
		f.dtype == "" && !slices.ContainsFunc(stored, func(c string) bool { return !isFloat(c) }) {
		values = append(values, -7.5, math.NaN())
	}
	switch f.pad = rapid.SampledFrom(values).Draw(t, "pad_value"); {
	case math.IsNaN(f.pad):
		f.spec["pad_value"] = nil
	case f.pad != 0:
		f.spec["pad_value"] = f.pad
	}
}

func (f *drawnFeed) drawCuts(t *rapid.T, data *drawnDataset) {
	if rapid.IntRange(0, 3).Draw(t, "cut by rows") == 0 {
		a := rapid.Int64Range(0, 10).Draw(t, "from")
		f.rows = []int64{a, a + rapid.Int64Range(5, 30).Draw(t, "rows")}
	}
	if data.names != nil && rapid.IntRange(0, 3).Draw(t, "cut by items") == 0 {
		f.items = []int64{}
		for i := range data.names {
			if rapid.IntRange(0, 2).Draw(t, "item") > 0 {
				f.items = append(f.items, int64(i))
			}
		}
	}
}

func (f *drawnFeed) drawOptions(t *rapid.T, data *drawnDataset) {
	o := sampler.Options{
		Order: rapid.SampledFrom([]string{"", "shuffle", "shuffle", "bootstrap", "random_start",
			"lanes"}).Draw(t, "order"), Seed: rapid.Uint64Range(0, 9).Draw(t, "seed"),
		BatchSize:   sampler.BatchSize(rapid.Int64Range(1, 7).Draw(t, "batch_size")),
		NumReplicas: rapid.SampledFrom([]int64{1, 1, 2, 3}).Draw(t, "num_replicas"),
		Tail:        rapid.SampledFrom([]string{"", "short", "wrap", "drop"}).Draw(t, "tail"),
	}
	if data.timed && rapid.IntRange(0, 2).Draw(t, "groups") == 0 {
		drawGroups(t, &o)
	}
	o.Rank = rapid.Int64Range(0, o.NumReplicas-1).Draw(t, "rank")
	if o.Order == sampler.Lanes {
		f.stride = f.c * f.dilation
		f.spec["stride"] = f.stride
	}
	f.options = o
	f.delivery = rapid.SampledFrom([]string{batch.Slot, batch.Slot, batch.Slot, batch.View,
		batch.View, batch.Local, batch.Starts}).
		Draw(t, "delivery")
	f.queue = rapid.Bool().Draw(t, "queue")
}
