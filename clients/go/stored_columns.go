package tensorcache

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// openDatasets are the datasets that the program has open. Put looks among them for the columns that
// it is given slices of.
var openDatasets struct {
	sync.Mutex
	all map[*Dataset]struct{}
}

// rememberOpen adds a dataset to openDatasets.
func rememberOpen(d *Dataset) {
	openDatasets.Lock()
	defer openDatasets.Unlock()
	if openDatasets.all == nil {
		openDatasets.all = map[*Dataset]struct{}{}
	}
	openDatasets.all[d] = struct{}{}
}

// forgetOpen removes a dataset from openDatasets.
func forgetOpen(d *Dataset) {
	openDatasets.Lock()
	defer openDatasets.Unlock()
	delete(openDatasets.all, d)
}

// stepsOf says that the values of a column are those of a column of a dataset, whose steps they have.
type stepsOf struct {
	Dataset    string `json:"dataset"`
	Generation int64  `json:"generation"`
	Digest     string `json:"digest"`
	Column     string `json:"column"`
	// Changed is true if they are a part of it, or are read as another type.
	Changed bool `json:"changed,omitempty"`
}

// sentColumn is the header of a column in the request of a put.
type sentColumn struct {
	PutColumn
	StepsOf *stepsOf `json:"steps_of,omitempty"`
	// PartOfFilled is the column in which a load filled values, if it is not known which of these were.
	PartOfFilled *layout.PartOf `json:"part_of_filled,omitempty"`
	// Calendar is the feature that a load computed the values as, "" if it did not.
	Calendar string `json:"calendar,omitempty"`
}

// sent returns the header of a column, with the column of an open dataset whose memory the values are
// in.
func (c *Cache) sent(p PutColumn) sentColumn {
	s := sentColumn{PutColumn: p}
	if len(p.payload) != 1 || len(p.payload[0]) == 0 {
		return s
	}
	openDatasets.Lock()
	defer openDatasets.Unlock()
	for d := range openDatasets.all {
		of, whole := d.columnOf(p)
		if of == nil {
			continue
		}
		whole = whole && d.cache.dir == c.dir
		if whole && of.HasSteps() || of.NeedsSteps() {
			s.StepsOf = &stepsOf{Dataset: d.name, Generation: d.generation, Digest: d.Digest(),
				Column: of.Name, Changed: !whole}
		}
		s.PartOfFilled = of.PartOfFilled
		if p.DType == string(layout.Float32) {
			s.Calendar = of.Calendar
		}
		if filled := of.Prepared != nil && of.Prepared.Before != nil; filled && !whole && s.PartOfFilled == nil {
			s.PartOfFilled = &layout.PartOf{Dataset: d.name, Column: of.Name}
		}
		break
	}
	return s
}

// columnOf returns the column whose memory the values are in, nil if there is none. whole is true if
// they are all its values.
func (d *Dataset) columnOf(p PutColumn) (of *layout.ManifestColumn, whole bool) {
	release, err := d.acquire()
	if err != nil { // it was closed, and the values cannot be of it
		return nil, false
	}
	defer release()
	values := p.payload[0]
	for i := range d.data.Manifest.Columns {
		c := &d.data.Manifest.Columns[i]
		stored, err := layout.View[uint8](d.data, c)
		if err != nil || len(stored.Data) == 0 {
			continue
		}
		offset := int64(uintptr(unsafe.Pointer(unsafe.SliceData(values))) -
			uintptr(unsafe.Pointer(unsafe.SliceData(stored.Data))))
		if offset < 0 || offset >= int64(len(stored.Data)) || offset%stored.Step >= stored.Width {
			continue
		}
		return c, offset == 0 && stored.Contiguous() && len(values) == len(stored.Data) &&
			p.DType == string(c.DType) && slices.Equal(p.Shape, c.Shape)
	}
	return nil, false
}
