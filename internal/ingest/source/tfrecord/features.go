package tfrecord

import (
	"context"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
)

// collectFeatures sets t.features. It parses the spans in parallel and merges their features in the
// order of the spans.
func (t *file) collectFeatures() error {
	var mu sync.Mutex
	bySpan := make([]map[string]*tfFeature, len(t.spans))
	err := parallel.For(context.Background(), t.Workers, len(t.spans), t.name,
		func(_, i int) error {
			features := map[string]*tfFeature{}
			seen := map[string]bool{}
			err := t.records(t.spans[i], func(row int64, x feature) error {
				if seen[string(x.name)] {
					return &loaderr.SourceError{
						Path: t.name, Row: row + 1, Column: string(x.name),
						Reason: "the feature is in the record twice",
					}
				}
				seen[string(x.name)] = true
				if !utf8.Valid(x.name) {
					return errProto
				}
				n, err := x.count()
				if err != nil {
					return err
				}
				current := &tfFeature{list: x.list, row: row, width: n}
				if known, ok := features[string(x.name)]; ok {
					known.merge(current)
				} else {
					features[string(x.name)] = current
				}
				if len(features) > maxFeatures {
					return t.tooManyFeatures(row)
				}
				return nil
			}, func(int64) error { clear(seen); return nil })
			mu.Lock()
			defer mu.Unlock()
			bySpan[i] = features
			return err
		})
	if err != nil {
		return err
	}
	for _, features := range bySpan {
		for name, f := range features {
			if known, ok := t.features[name]; ok {
				known.merge(f)
			} else {
				t.features[name] = f
			}
			if len(t.features) > maxFeatures {
				return t.tooManyFeatures(f.row)
			}
		}
	}
	return nil
}

// tooManyFeatures returns the error of a record with a feature more than maxFeatures.
func (t *file) tooManyFeatures(row int64) error {
	return &loaderr.SourceError{
		Path: t.name, Row: row + 1, Reason: fmt.Sprintf("there are more than %d features",
			maxFeatures),
	}
}

// merge merges the type of the feature in later records into f. It sets conflict if the two differ.
// An empty list is a missing value and fits any number of values.
func (f *tfFeature) merge(later *tfFeature) {
	switch {
	case f.conflict != nil:
	case f.list == noList || later.list != noList && f.width == 0 && f.list == later.list:
		*f = *later
	case later.list == noList:
	case later.width == 0 && later.list == f.list:
		f.conflict = later.conflict
	case f.list != later.list:
		f.conflict = &loaderr.SourceError{
			Row:    later.row + 1,
			Reason: fmt.Sprintf("is %s, but in row %d %s", later.list, f.row+1, f.list),
			Hint:   "leave the feature out with `columns`",
		}
	case f.width != later.width:
		f.conflict = &loaderr.SourceError{
			Row:    later.row + 1,
			Reason: fmt.Sprintf("has %d values, but in row %d %d", later.width, f.row+1, f.width),
			Hint:   "pad the lists to one length, or leave the feature out with `columns`",
		}
	default:
		f.conflict = later.conflict
	}
}
