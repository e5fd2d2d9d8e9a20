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

// stepsOf returns the column with steps whose memory the values are in, nil if there is none.
func (c *Cache) stepsOf(p PutColumn) *stepsOf {
	if len(p.payload) != 1 || len(p.payload[0]) == 0 {
		return nil
	}
	openDatasets.Lock()
	defer openDatasets.Unlock()
	for d := range openDatasets.all {
		if of := d.stepsOf(p); of != nil {
			of.Changed = of.Changed || d.cache.dir != c.dir
			return of
		}
	}
	return nil
}

// sentColumn is the header of a column in the request of a put.
type sentColumn struct {
	PutColumn
	StepsOf *stepsOf `json:"steps_of,omitempty"`
}

// stepsOf is [Cache.stepsOf] for one dataset.
func (d *Dataset) stepsOf(p PutColumn) *stepsOf {
	release, err := d.acquire()
	if err != nil { // it was closed, and the values cannot be of it
		return nil
	}
	defer release()
	values := p.payload[0]
	for i := range d.data.Manifest.Columns {
		c := &d.data.Manifest.Columns[i]
		if !c.HasSteps() {
			continue
		}
		stored, err := layout.View[uint8](d.data, c)
		if err != nil || len(stored.Data) == 0 {
			continue
		}
		offset := int64(uintptr(unsafe.Pointer(unsafe.SliceData(values))) -
			uintptr(unsafe.Pointer(unsafe.SliceData(stored.Data))))
		if offset < 0 || offset >= int64(len(stored.Data)) || offset%stored.Step >= stored.Width {
			continue
		}
		whole := offset == 0 && stored.Contiguous() && len(values) == len(stored.Data) &&
			p.DType == string(c.DType) && slices.Equal(p.Shape, c.Shape)
		if !whole && !c.NeedsSteps() {
			return nil
		}
		return &stepsOf{Dataset: d.name, Generation: d.generation, Digest: d.Digest(), Column: c.Name,
			Changed: !whole}
	}
	return nil
}
