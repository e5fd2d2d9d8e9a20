package feed

import (
	"math"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/layout"
)

// drawFilled draws, for each value, whether a load filled it.
func (data *drawnDataset) drawFilled(t *rapid.T) {
	data.filled = map[string][][]bool{}
	random := rapid.Uint64().Draw(t, "filled values")
	for _, c := range data.columns {
		percent := rapid.SampledFrom([]uint64{0, 0, 3, 50, 100}).Draw(t, "filled in a hundred")
		for range data.values[c.Name] {
			row := make([]bool, max(c.Width, 1))
			for j := range row {
				random = random*6364136223846793005 + 1442695040888963407
				row[j] = percent > 0 && random>>32%100 < percent
			}
			data.filled[c.Name] = append(data.filled[c.Name], row)
		}
	}
}

// prepared returns what a load stores about the values that it filled.
func (data *drawnDataset) prepared() map[string]*layout.Prepared {
	out := map[string]*layout.Prepared{}
	for _, c := range data.columns {
		var rows layout.MissingRows
		features := make([]layout.MissingRows, max(c.Width, 1))
		for row, filled := range data.filled[c.Name] {
			cells := int64(0)
			for j, is := range filled {
				if is {
					cells++
					features[j].Add(int64(row), 1)
				}
			}
			rows.Add(int64(row), cells)
		}
		_, cells := rows.Count()
		if cells == 0 {
			continue
		}
		before := &layout.BeforeFill{Missing: cells, ListFile: layout.ListFile{Runs: rows.AppendBinary(nil)},
			Cells: &layout.ListFile{}}
		for _, m := range features {
			before.Cells.Runs = layout.AppendFeature(before.Cells.Runs, m.AppendBinary(nil))
		}
		out[c.Name] = &layout.Prepared{Fill: "value", Before: before}
	}
	return out
}

// masks returns a dataset that has, for each value, 1 or 0 of a mask.
func (data *drawnDataset) masks(observed bool) *drawnDataset {
	out := *data
	out.values = map[string][][]float64{}
	for _, c := range data.columns {
		for row, values := range data.values[c.Name] {
			var mask []float64
			for j, v := range values {
				is := math.IsNaN(v)
				if observed {
					is = !is && !(c.DType == layout.Text && v < 0) && !data.filled[c.Name][row][j]
				}
				mask = append(mask, flag01(is))
			}
			out.values[c.Name] = append(out.values[c.Name], mask)
		}
	}
	return &out
}

// inMask returns the value of a mask, which is 0 for padding.
func inMask(v float64, real bool) float64 {
	if !real {
		return 0
	}
	return v
}
