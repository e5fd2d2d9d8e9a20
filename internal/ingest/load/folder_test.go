package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// writeTree writes files below a new folder and returns the folder. Names are relative, with
// slashes.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAFolderLoadsItsFilesInPathOrder(t *testing.T) {
	root := writeTree(t, map[string]string{
		"b.csv": "a\n3\n", "a.csv": "a\n1\n2\n",
		"c.CSV.gz":  loadtest.Compressed(t, ".gz", "a\n4.5\n"),
		"README.md": "no", "_SUCCESS": "no", ".hidden.csv": "no", "_temporary/x.csv": "no",
		".git/x.csv": "no",
	})
	if err := os.Symlink("nowhere", filepath.Join(root, "dangling")); err != nil {
		t.Fatal(err)
	}
	l := mustLoad(t, option.Options{Sources: []string{root}})
	if got := loadtest.Values[float64](l, "a"); !slices.Equal(got, []float64{1, 2, 3, 4.5}) {
		t.Error(got)
	}
	if n := len(l.Manifest.Sources); n != 3 {
		t.Errorf("%d sources in the manifest", n)
	}
}

// TestNamesThatAreNotUTF8AreRefused has a file and a partition whose names a manifest cannot have:
// an append would not know them again. Other names are of no load.
func TestNamesThatAreNotUTF8AreRefused(t *testing.T) {
	for _, name := range []string{"a\xff.csv", "k=\xff/a.csv"} {
		root := t.TempDir()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte("v\n1\n"), 0o600)); err != nil {
			t.Skip("the file system has only names that are UTF-8:", err)
		}
		_, _, err := loadInProcess(t, option.Options{Sources: []string{root}})
		loadtest.Refused(t, err, `\xff`, "rename it")
		loadtest.Refused(t, err, "a name that is not UTF-8", "rename it")
	}
	root := writeTree(t, map[string]string{"a.csv": "v\n1\n", "notes\xff": "no"})
	mustLoad(t, option.Options{Sources: []string{root}})
}

func TestPartitionsAreColumns(t *testing.T) {
	root := writeTree(t, map[string]string{
		"year=2020/shop=a%20b/x.csv": "t,v\n1,1\n2,2\n",
		"year=2020/shop=c/x.csv":     "t,v\n1,3\n",
		"year=2021/shop=7/x.csv":     "t,v\n1,4\n2,2.5\n",
	})
	for _, layoutName := range []string{layout.Columns, layout.Packed} {
		l := mustLoad(t, option.Options{Sources: []string{root}, ItemID: []string{"year", "shop"},
			Time: "t", Layout: layoutName})
		if got := loadtest.Values[int64](l, "year"); !slices.Equal(got,
			[]int64{2020, 2020, 2020, 2021, 2021}) {
			t.Errorf("year %v", got)
		}
		if got := loadtest.Texts(l, "shop"); !slices.Equal(got,
			[]string{"a b", "a b", "c", "7", "7"}) {
			t.Errorf("shop %v", got)
		}
		if got := loadtest.Values[float64](l, "v"); !slices.Equal(got, []float64{1, 2, 3, 4, 2.5}) {
			t.Errorf("v %v", got)
		}
	}
	// A partition column can be selected and scaled, without columns of the files.
	l := mustLoad(t, option.Options{Sources: []string{root}, Columns: []string{"year"},
		Scale: option.All("minmax")})
	if got := loadtest.Values[float32](l, "year"); !slices.Equal(got, []float32{0, 0, 0, 1, 1}) {
		t.Errorf("scaled year %v", got)
	}
}

// TestPartitionColumnsStayWhenFileColumnsWiden loads a file in which a late cell widens an int64
// column to float64. The columns of the partitions must not change.
func TestPartitionColumnsStayWhenFileColumnsWiden(t *testing.T) {
	many := "v,w\n"
	for i := range 2000 {
		many += fmt.Sprintf("%d,%d\n", i, i)
	}
	root := writeTree(t, map[string]string{"k=1/x.csv": many + "0.5,1\n", "k=2/x.csv": many})
	l := mustLoad(t, option.Options{Sources: []string{root}, ItemID: []string{"k"},
		Columns: []string{"w", "v"}})
	k, v, w := loadtest.Values[int64](l, "k"), loadtest.Values[float64](l, "v"),
		loadtest.Values[int64](l, "w")
	if k[2000] != 1 || k[2001] != 2 || v[2000] != 0.5 || v[2002] != 1 || w[2000] != 1 ||
		w[4000] != 1999 {
		t.Errorf("%v %v %v", k[1999:2003], v[1999:2003], w[1999:2003])
	}
}

func TestInvalidFoldersAreRefused(t *testing.T) {
	for _, c := range []struct {
		name       string
		files      map[string]string
		want, hint string
	}{
		{"nothing", map[string]string{"x.txt": "no"},
			": is a directory without " + files.FormatNames() + " files", "suffix"},
		{"two kinds", map[string]string{"a.csv": "a\n1\n", "b.parquet": "x"},
			": holds CSV and Parquet files (a.csv, b.parquet), want one kind", "name the files"},
		{"folder", map[string]string{"a.csv": "a\n1\n", "more/b.csv": "a\n1\n"},
			`: holds files and the folder "more", which is not a partition (key=value)`,
			"name the files"},
		{"no value", map[string]string{"k=__HIVE_DEFAULT_PARTITION__/a.csv": "a\n1\n"},
			"/k=__HIVE_DEFAULT_PARTITION__: is a partition without a value", ""},
		{"key twice", map[string]string{"k=1/k=2/a.csv": "a\n1\n"},
			`/k=1/k=2: is a partition by "k" within another`, ""},
		{"column too", map[string]string{"a=1/a.csv": "a\n1\n"},
			`a=1/a.csv, column "a": is in the file and in the name of its folder, a=1`,
			"instead of the folder"},
		{"uneven", map[string]string{"a.csv": "a\n1\n", "k=1/b.csv": "a\n1\n"},
			`/k=1/b.csv, column "k": is in this file but not in `, "`columns`"},
		{"other columns", map[string]string{"a.csv": "a\n1\n", "b.csv": "b\n1\n"},
			`/b.csv, column "b": is in this file but not in `, "`columns`"},
		{"empty file", map[string]string{"a.csv": "a\n1\n", "b.csv": ""},
			"/b.csv: the file is empty", ""},
		{"Delta", map[string]string{"a.parquet": "x", "_delta_log/0.json": "{}"},
			": is a Delta table", "put"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := loadInProcess(t, option.Options{Sources: []string{writeTree(t, c.files)}})
			loadtest.Refused(t, err, c.want, c.hint)
		})
	}
	loop := t.TempDir()
	if err := os.Symlink(".", filepath.Join(loop, "k=1")); err != nil {
		t.Fatal(err)
	}
	_, _, err := loadInProcess(t, option.Options{Sources: []string{loop}})
	loadtest.Refused(t, err, `is a partition by "k" within another`, "")
}

// TestAFolderAndItsFilesHaveDifferentRecipes compares the recipe of a partitioned folder with that
// of its file. Partitions are columns only if the folder is loaded.
func TestAFolderAndItsFilesHaveDifferentRecipes(t *testing.T) {
	root := writeTree(t, map[string]string{"k=1/a.csv": "a\n1\n"})
	folder, _ := option.Options{Sources: []string{root}}.Recipe()
	file, _ := option.Options{Sources: []string{filepath.Join(root, "k=1", "a.csv")}}.Recipe()
	if string(folder) == string(file) {
		t.Errorf("both are %s", file)
	}
	l := mustLoad(t, option.Options{Sources: []string{root}})
	var stored bytes.Buffer
	if err := json.Compact(&stored, l.Manifest.Recipe); err != nil ||
		stored.String() != string(folder) {
		t.Errorf("the manifest has %s (%v), want %s", stored.String(), err, folder)
	}
}
