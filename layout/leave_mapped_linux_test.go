package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLeaveMappedKeepsTheMappingAfterFinish searches for the data file in the memory maps of the
// process after Finish. With LeaveMapped, writes to the mapping must still reach the file.
func TestLeaveMappedKeepsTheMappingAfterFinish(t *testing.T) {
	for _, leaveMapped := range []bool{false, true} {
		dir := t.TempDir()
		w, err := Create(dir,
			Table{Rows: 2, Layout: Columns,
				Columns: []Column{{Name: "x", Role: RoleValue, DType: Float64}}})
		if err != nil {
			t.Fatal(err)
		}
		if leaveMapped {
			w.LeaveMapped()
		}
		values := Values[float64](w.Column(0, Random)).Data
		if _, err := w.Finish(Final{Items: Items{Offsets: []int64{0, 2}}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Abort(); err != nil { // without effect after Finish
			t.Error(err)
		}
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		mapped := strings.Contains(string(maps), filepath.Join(dir, DataFile))
		if mapped != leaveMapped {
			t.Errorf("mapped %v, want %v", mapped, leaveMapped)
		}
		if leaveMapped {
			values[1] = 5
			d, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			v, err := View[float64](d, &d.Manifest.Columns[0])
			if err != nil || v.Data[1] != 5 {
				t.Errorf("%v, %v, want the file's bytes", v.Data, err)
			}
		}
	}
}
