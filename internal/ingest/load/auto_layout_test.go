package load

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// TestAutoLayoutIsChosenOnce loads a wide file, and appends to it. The recipe keeps the option.
func TestAutoLayoutIsChosenOnce(t *testing.T) {
	names := make([]string, option.PackedFrom)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	head, row := "t,"+strings.Join(names, ",")+"\n", strings.Repeat(",0.5", len(names))+"\n"
	file := loadtest.File(t, "a.csv", head+"1"+row+"2"+row+"3"+row)
	for name, c := range map[string]struct {
		o    option.Options
		want string
	}{
		"all":        {option.Options{}, layout.Packed},
		"fewer":      {option.Options{Columns: names[1:]}, layout.Columns},
		"two dtypes": {option.Options{DType: option.DTypes{By: map[string]string{"c0": "float32"}}}, layout.Columns},
		"narrower":   {option.Options{DType: option.Floats("float32")}, layout.Packed},
		"a calendar of the dtype": {option.Options{Calendar: []string{"age"},
			DType: option.Floats("float32")}, layout.Columns},
		"a calendar": {option.Options{Calendar: []string{"age"}}, layout.Packed},
		"some rows": {option.Options{Where: &option.Where{Time: []json.RawMessage{[]byte("2"), nil}}},
			layout.Packed},
		"a step": {option.Options{Scale: option.All(option.ScaleStandard)}, layout.Packed},
	} {
		c.o.Sources, c.o.Time, c.o.Layout = []string{file}, "t", option.AutoLayout
		l := mustLoad(t, c.o)
		more := mustAppend(t, l, loadtest.File(t, "b.csv", head+"4"+row))
		for _, m := range []*layout.Manifest{l.Manifest, more.Manifest} {
			if m.Layout != c.want || !strings.Contains(string(m.Recipe), `"auto"`) {
				t.Errorf("%s: layout %q of %s", name, m.Layout, m.Recipe)
			}
		}
		c.o.Layout = c.want
		if same := mustLoad(t, c.o); len(same.Manifest.Columns) != len(l.Manifest.Columns) ||
			!slices.EqualFunc(same.Manifest.Columns, l.Manifest.Columns, func(a, b layout.ManifestColumn) bool {
				return a.Offset == b.Offset && a.XXH64 == b.XXH64 && slices.Equal(a.Strides, b.Strides)
			}) {
			t.Errorf("%s: not stored as with layout %s", name, c.want)
		}
	}
}
