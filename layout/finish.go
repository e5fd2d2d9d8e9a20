package layout

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Final is the content of a generation's manifest other than the values.
type Final struct {
	ItemID     []string // the item_id columns, in order
	Time       string   // the time column, or ""
	TimeStep   *TimeStep
	Items      Items
	Vocab      map[string][]string    // the words of each text column
	Source     map[string]string      // dtype in the source, by column, if it differs
	Prepared   map[string]*Prepared   // by column
	Scale      map[string]*Scale      // by column
	StepsOf    map[string]*StepsOf    // by column
	Calendar   map[string]string      // the features of calendar columns, by column
	Unchanged  map[string]string      // by column, the checksum that its values must have
	DTypeError map[string]*DTypeError // by column
	Recipe     json.RawMessage        // the load options without their sources
	Sources    []Source
	Appended   []Appended
	ScaledOf   *ScaledOf // its FitRows have the bytes of the file
	Dialect    *Dialect
	Notes      []Note
}

// ChangedError is the error of [Writer.Finish] for values with another checksum than
// [Final.Unchanged] says.
type ChangedError struct{ Column string }

// Error names the column.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("the values of column %q changed", e.Column)
}

// Finish computes the remaining checksums and statistics, writes items, vocabularies and the
// manifest, and ends the writer. It does not flush files to disk.
func (w *Writer) Finish(f Final) (*Manifest, error) {
	if w.data == nil {
		return nil, errFinished
	}
	defer w.Abort()
	m := &Manifest{
		Format: FormatVersion, Layout: w.table.Layout, Rows: w.table.Rows,
		Created: time.Now().UTC().Truncate(time.Second), Boot: BootID(),
		ItemID: f.ItemID, Time: f.Time, TimeStep: f.TimeStep,
		Vocab: map[string]Words{}, Files: map[string]FileBytes{},
		Recipe: f.Recipe, Sources: f.Sources, Appended: f.Appended, ScaledOf: f.ScaledOf,
		Dialect: f.Dialect, Notes: f.Notes,
		Columns: make([]ManifestColumn, len(w.table.Columns)),
	}
	if m.ItemID == nil {
		m.ItemID = []string{}
	}
	if err := w.describeColumns(m, f); err != nil {
		return nil, err
	}
	if err := writeItems(w.dir, m, f.Items); err != nil {
		return nil, err
	}
	for column, words := range f.Vocab {
		if err := writeVocab(w.dir, m, column, words); err != nil {
			return nil, err
		}
	}
	for name, list := range m.lists() {
		if err := list.write(w.dir, name); err != nil {
			return nil, err
		}
	}
	if err := m.recordFiles(w.dir); err != nil {
		return nil, err
	}
	var err error
	if m.Digest, err = m.digest(); err != nil {
		return nil, err
	}
	if err := m.write(w.dir); err != nil {
		return nil, err
	}
	if w.leaveMapped {
		data := w.data
		w.data = nil
		return m, data.CloseFile()
	}
	return m, w.Abort()
}

// describeColumns sets the columns of the manifest with their checksums and statistics, on all
// cores.
func (w *Writer) describeColumns(m *Manifest, f Final) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range w.table.Columns {
		group.Go(func() error {
			size := c.DType.Size()
			out := ManifestColumn{
				Name: c.Name, Role: c.Role, DType: c.DType, Unit: c.Unit, Zone: c.Zone,
				NamedOnly: (c.NamedOnly || f.Calendar[c.Name] != "") && c.Role == RoleValue && c.DType.IsNumeric(),
				Calendar:  f.Calendar[c.Name],
				Shape:     []int64{w.table.Rows}, Field: w.fieldNames[i],
				Offset: w.offsets[i], Strides: []int64{w.strides[i]},
				SourceDType: f.Source[c.Name], DTypeError: f.DTypeError[c.Name],
				Prepared: f.Prepared[c.Name], Scale: f.Scale[c.Name], StepsOf: f.StepsOf[c.Name],
			}
			if c.Width > 0 {
				out.Shape, out.Strides = append(out.Shape, c.Width), append(out.Strides, size)
			}
			if c.Role == RoleValue {
				out.PartOfFilled = c.PartOfFilled
			}
			a := w.accumulators[i]
			if a == nil || a.deferred {
				a = w.newAccumulator(i)
			}
			a.finish(w.table.Rows)
			out.XXH64, out.Missing = formatHash(a.hash.Sum64()), a.missing
			if want := f.Unchanged[c.Name]; want != "" && want != out.XXH64 {
				return &ChangedError{Column: c.Name}
			}
			if c.Role == RoleValue && c.DType.IsNumeric() {
				out.Statistics = a.statistics.result()
			}
			m.Columns[i] = out
			return nil
		})
	}
	return group.Wait()
}

// recordFiles sets the size of each file in the manifest, and the checksum of the metadata of each
// Arrow file.
func (m *Manifest) recordFiles(dir string) error {
	names := []string{DataFile, ItemsFile}
	for _, v := range m.Vocab {
		names = append(names, v.File)
	}
	for _, list := range m.lists() {
		names = append(names, list.File)
	}
	if len(names) > MaxFiles {
		return fmt.Errorf("%w: %d files, at most %d are possible: columns of text and columns with filled "+
			"values have files of their own", ErrSchema, len(names), MaxFiles)
	}
	for _, name := range names {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		m.Files[name] = FileBytes{Bytes: st.Size()}
		if !strings.HasSuffix(name, ".arrow") {
			continue
		}
		if err := m.recordFrame(dir, name); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manifest) recordFrame(dir, name string) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	file := m.Files[name]
	file.Frame, err = hashFrame(f)
	m.Files[name] = file
	return err
}
