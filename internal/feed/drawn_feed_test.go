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

// made is a drawn dataset with its values beside it, as float64, which holds all of them exactly.
type made struct {
	layout  string
	columns []layout.Column // value columns only
	values  map[string][][]float64
	rows    []int64  // of each item
	names   []string // of the items; none where there is one without a name
}

func (m *made) offset(item int64) (at int64) {
	for _, n := range m.rows[:item] {
		at += n
	}
	return at
}

func (m *made) column(name string) layout.Column {
	for _, c := range m.columns {
		if c.Name == name {
			return c
		}
	}
	panic(name)
}

// Names of the column that is constant per item, and of items as hard as JSON has them.
const constant = "constant"

var itemNames = []string{"MSFT", `quo"ted`, "<b>&amp;</b>", "Zürich"}

func drawDataset(t *rapid.T) *made {
	m := &made{
		layout: rapid.SampledFrom([]string{layout.Columns, layout.Packed}).Draw(t, "layout"),
		values: map[string][][]float64{},
	}
	alike := rapid.Bool().Draw(t, "columns are alike") // so that several are moved at once
	for i := range rapid.SampledFrom([]int{1, 2, 3, 7, 8, 8, 9, 15, 17}).Draw(t, "columns") {
		c := layout.Column{Name: fmt.Sprintf("c%d", i), Role: layout.RoleValue}
		if alike && i > 0 {
			c.DType, c.Width = m.columns[0].DType, m.columns[0].Width
		} else {
			c.DType, c.Width = drawDType(t),
				rapid.SampledFrom([]int64{0, 0, 0, 0, 1, 3}).Draw(t, "width")
		}
		if c.DType == layout.Duration {
			c.Unit = "ms"
		}
		m.columns = append(m.columns, c)
	}
	c := layout.Column{Name: constant, Role: layout.RoleValue, DType: m.columns[0].DType}
	if !alike || !c.DType.IsNumeric() {
		c.DType = layout.Float32 // at least one column stands in windows that name none
	}
	m.columns = append(m.columns, c)
	items := rapid.IntRange(1, len(itemNames)).Draw(t, "items")
	for range items {
		m.rows = append(m.rows, rapid.SampledFrom([]int64{0, 7, 20, 26, 31, 40}).Draw(t, "rows"))
	}
	if items > 1 {
		m.names = itemNames[:items]
	}
	nan := rapid.SampledFrom([]int{0, 0, 0, 5, 40}).Draw(t, "NaNs in a hundred")
	random := rapid.Uint64().Draw(t, "values")
	for _, c := range m.columns {
		for item, n := range m.rows {
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
						// a whole number that float32 holds
						row[j] = float64(int64(random>>40) - 1<<23)
					}
				}
				m.values[c.Name] = append(m.values[c.Name], row)
			}
		}
	}
	return m
}

func drawDType(t *rapid.T) layout.DType {
	return rapid.SampledFrom([]layout.DType{
		layout.Float32, layout.Float32, layout.Float64, layout.Int32, layout.Int64, layout.Bool,
		layout.Float16, layout.Int8, layout.Int16,
		layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64, layout.Duration, layout.Text,
	}).Draw(t, "dtype")
}

// publish writes the dataset into a world.
func (m *made) publish(t tb, w *world, name string) {
	t.Helper()
	table := layout.Table{Layout: m.layout, Rows: m.offset(int64(len(m.rows))), Columns: m.columns}
	final := layout.Final{Items: layout.Items{}}
	for i := range len(m.rows) + 1 {
		final.Items.Offsets = append(final.Items.Offsets, m.offset(int64(i)))
	}
	if m.names != nil {
		final.ItemID = []string{"id"}
		final.Vocab = map[string][]string{"id": m.names}
		final.Items.Values = []layout.ItemValues{{Name: "id", Texts: m.names}}
		table.Columns = append(
			[]layout.Column{{Name: "id", Role: layout.RoleItemID, DType: layout.Text}},
			m.columns...)
	}
	storetest.Publish(t, w.store, name, table, final, func(w *layout.Writer) {
		for i, c := range table.Columns {
			if c.Role != layout.RoleItemID {
				storeColumn(w.Column(i, layout.Random), m.values[c.Name])
			}
		}
	})
}

func storeColumn(d layout.ColumnWriter, values [][]float64) {
	switch d.DType.Plain() {
	case layout.Float16:
		storeAs(layout.Values[layout.Half](d), values, layout.HalfOf)
	case layout.Float32:
		storeAs(layout.Values[float32](d), values, number[float32])
	case layout.Float64:
		storeAs(layout.Values[float64](d), values, number[float64])
	case layout.Int8:
		storeAs(layout.Values[int8](d), values, number[int8])
	case layout.Int16:
		storeAs(layout.Values[int16](d), values, number[int16])
	case layout.Int32:
		storeAs(layout.Values[int32](d), values, number[int32])
	case layout.Int64:
		storeAs(layout.Values[int64](d), values, number[int64])
	case layout.Uint8, layout.Bool:
		storeAs(layout.Values[uint8](d), values, number[uint8])
	case layout.Uint16:
		storeAs(layout.Values[uint16](d), values, number[uint16])
	case layout.Uint32:
		storeAs(layout.Values[uint32](d), values, number[uint32])
	case layout.Uint64:
		storeAs(layout.Values[uint64](d), values, number[uint64])
	}
}

func number[T layout.Number](v float64) T { return T(v) }

func storeAs[T layout.Native](to layout.Strided[T], values [][]float64, of func(float64) T) {
	for i, row := range values {
		for j, v := range row {
			to.Row(int64(i))[j] = of(v)
		}
	}
}

// wish is a drawn feed: what is asked for and, in the words of the design, what that means.
type wish struct {
	c, p, gap, overlap, stride, dilation, least int64 // least is min_context
	share                                       float64
	anyMissing                                  bool
	context, target, known, static              []string
	dtype                                       string // "" is as stored
	replace                                     *float64
	first, mask                                 bool    // channels_first
	rows                                        []int64 // a cut by rows; nil is none
	items                                       []int64 // a cut by items; nil is none
	options                                     sampler.Options
	slots                                       int
	spec                                        map[string]any
	delivery                                    string
	queue                                       bool
}

// places tells whether the ring holds no values.
func (w *wish) places() bool { return w.delivery != batch.Slot }

func drawWish(t *rapid.T, m *made) *wish {
	w := &wish{
		c:        rapid.Int64Range(1, 6).Draw(t, "context_length"),
		p:        rapid.Int64Range(0, 4).Draw(t, "prediction_length"),
		stride:   rapid.Int64Range(1, 4).Draw(t, "stride"),
		dilation: rapid.SampledFrom([]int64{1, 1, 2, 3}).Draw(t, "dilation"),
		first:    rapid.Bool().Draw(t, "channels_first"), mask: rapid.Bool().Draw(t, "mask"),
		slots: rapid.SampledFrom([]int{0, 3, 4, 9}).Draw(t, "slots"),
	}
	if w.p > 0 {
		w.gap = rapid.SampledFrom([]int64{0, 0, 1, 3}).Draw(t, "gap")
		w.overlap = rapid.Int64Range(0, w.c+w.gap).Draw(t, "overlap")
	}
	w.least = rapid.SampledFrom([]int64{w.c, w.c, 0, w.c / 2}).Draw(t, "min_context")
	w.spec = map[string]any{"context_length": w.c, "prediction_length": w.p, "gap": w.gap,
		"overlap": w.overlap, "stride": w.stride, "dilation": w.dilation, "min_context": w.least}
	switch rapid.IntRange(0, 3).Draw(t, "missing") {
	case 0:
		w.share = rapid.SampledFrom([]float64{0.1, 0.3, 0.5}).Draw(t, "max_missing")
		w.spec["max_missing"] = w.share
	case 1, 2:
		w.anyMissing = true
		w.spec["max_missing"] = nil
	}
	if rapid.Bool().Draw(t, "replaces") {
		w.replace = new(float64)
		*w.replace = -7
		w.spec["missing_value"] = -7
	}
	w.drawColumns(t, m)
	w.drawDType(t, m)
	w.drawCuts(t, m)
	w.drawOptions(t)
	return w
}

// drawColumns chooses columns in any order, or leaves them to their defaults. Roles that exclude
// each other share none.
func (w *wish) drawColumns(t *rapid.T, m *made) {
	var all []string
	for _, c := range m.columns {
		all = append(all, c.Name)
	}
	choose := func(name string, from []string, most int) []string {
		return rapid.Permutation(from).Draw(t,
			name)[:rapid.IntRange(1, most).Draw(t, "chosen "+name)]
	}
	if rapid.Bool().Draw(t, "static") {
		w.static = []string{constant}
		w.spec["static_columns"] = w.static
		all = without(all, w.static)
	}
	if len(all) > 1 && rapid.IntRange(0, 2).Draw(t, "has known") == 0 {
		w.known = choose("known_columns", all, len(all)-1)
		w.spec["known_columns"] = w.known
	}
	open := without(all, w.known)
	switch rapid.IntRange(0, 2).Draw(t, "columns by") {
	case 0: // defaults: all numbers; static columns leave both, known ones the target
		w.context = slices.DeleteFunc(slices.Clone(all),
			func(name string) bool { return !m.column(name).DType.IsNumeric() })
		w.target = without(w.context, w.known)
		if len(w.context) == 0 {
			w.context = all
			w.spec["context_columns"] = all
		}
		if len(w.target) == 0 && w.p > 0 {
			w.target = choose("target_columns", open, len(open))
			w.spec["target_columns"] = w.target
		}
	case 1:
		w.context = choose("columns", all, len(all))
		if rapid.Bool().Draw(t, "in order") {
			w.context = all[:len(w.context)]
		}
		w.target = w.context
		w.spec["columns"] = w.context
	case 2:
		w.context = choose("context_columns", all, len(all))
		w.spec["context_columns"] = w.context
		if w.p > 0 {
			w.target = choose("target_columns", open, len(open))
			w.spec["target_columns"] = w.target
		}
	}
	if w.p == 0 {
		w.target = nil
	}
}

// drawDType chooses among the dtypes that the columns fit.
func (w *wish) drawDType(t *rapid.T, m *made) {
	fit, stored := []string{"float32", "float64"}, true
	whole := map[layout.DType]bool{layout.Int32: true, layout.Int64: true}
	var first layout.DType
	same := true // one dtype in all parts
	for _, part := range [][]string{w.context, w.target, w.known, w.static} {
		for _, name := range part {
			d := m.column(name).DType.Plain()
			for to := range whole {
				whole[to] = whole[to] && to.Holds(d)
			}
			stored = stored && d == m.column(part[0]).DType.Plain()
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
	w.dtype = rapid.SampledFrom(fit).Draw(t, "dtype")
	w.spec["dtype"] = w.dtype
	if w.dtype == "" {
		w.spec["dtype"] = nil
	}
}

func (w *wish) drawCuts(t *rapid.T, m *made) {
	if rapid.IntRange(0, 3).Draw(t, "cut by rows") == 0 {
		a := rapid.Int64Range(0, 10).Draw(t, "from")
		w.rows = []int64{a, a + rapid.Int64Range(5, 30).Draw(t, "rows")}
	}
	if m.names != nil && rapid.IntRange(0, 3).Draw(t, "cut by items") == 0 {
		w.items = []int64{}
		for i := range m.names {
			if rapid.IntRange(0, 2).Draw(t, "item") > 0 {
				w.items = append(w.items, int64(i))
			}
		}
	}
}

func (w *wish) drawOptions(t *rapid.T) {
	o := sampler.Options{
		Order: rapid.SampledFrom([]string{"", "shuffle", "shuffle", "bootstrap", "random_start",
			"lanes"}).Draw(t, "order"), Seed: rapid.Uint64Range(0, 9).Draw(t, "seed"),
		BatchSize:   rapid.Int64Range(1, 7).Draw(t, "batch_size"),
		NumReplicas: rapid.SampledFrom([]int64{1, 1, 2, 3}).Draw(t, "num_replicas"),
		Tail:        rapid.SampledFrom([]string{"", "short", "wrap", "drop"}).Draw(t, "tail"),
	}
	o.Rank = rapid.Int64Range(0, o.NumReplicas-1).Draw(t, "rank")
	if o.Order == sampler.Lanes {
		w.stride = w.c * w.dilation
		w.spec["stride"] = w.stride
	}
	w.options = o
	w.delivery = rapid.SampledFrom([]string{batch.Slot, batch.Slot, batch.Slot, batch.View,
		batch.View, batch.Local, batch.Starts}).
		Draw(t, "delivery")
	w.queue = rapid.Bool().Draw(t, "queue")
}
