package layout

import (
	"errors"
	"strings"
	"testing"
)

func TestManifestsThatAreTooLargeAreRefused(t *testing.T) {
	m := &Manifest{Columns: make([]ManifestColumn, 100_000)}
	for i := range m.Columns {
		m.Columns[i].Name = strings.Repeat("x", maxManifest/len(m.Columns))
	}
	for hint, scale := range map[string]*Scale{
		"load fewer columns, or with `melt` if they are series": {Per: "column"},
		"load fewer columns, or scale per column":               {Per: "item"},
	} {
		m.Columns[0].Scale = scale
		err := m.write(t.TempDir())
		if !errors.Is(err, ErrSchema) || !strings.HasSuffix(err.Error(), hint) {
			t.Errorf("%s: %v", scale.Per, err)
		}
	}
}
