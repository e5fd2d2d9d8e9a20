package tensorcache

import (
	"fmt"
	"testing"
)

// TestADatasetOfManyFilesIsOpened opens more files than the 253 whose descriptors one message over a
// socket may have.
func TestADatasetOfManyFilesIsOpened(t *testing.T) {
	c := sharedDaemon(t)
	var columns []PutColumn
	for i := range 300 {
		columns = append(columns, Texts(fmt.Sprint(i), []string{"a", fmt.Sprint(i)}))
	}
	d := must(c.Put(t.Context(), "many-files", append(columns, Values("x", []float64{1, 2})), LoadOptions{}))(t)
	defer d.Close()
	for _, name := range []string{"0", "299"} {
		if word := must(d.Word(name, 1))(t); word != name {
			t.Errorf("column %s has the word %q", name, word)
		}
	}
}
