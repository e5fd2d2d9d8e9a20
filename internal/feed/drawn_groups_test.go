package feed

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// timeColumn is the name of the time column of a dataset that has times.
const timeColumn = "time"

// time returns the time of a row of an item. Item k has every (k+1)-th time.
func (data *drawnDataset) time(item, row int64) int64 { return 3 + row*(item+1) }

// times returns the times of all rows.
func (data *drawnDataset) times() (times [][]float64) {
	for item, n := range data.rows {
		for row := range n {
			times = append(times, []float64{float64(data.time(int64(item), row))})
		}
	}
	return times
}

// drawGroups draws options of an order of groups.
func drawGroups(t *rapid.T, o *sampler.Options) {
	o.Order = rapid.SampledFrom([]string{sampler.CrossSection, sampler.CrossSectionSequential}).
		Draw(t, "order of groups")
	o.MinItems = rapid.Int64Range(0, 2).Draw(t, "min_items")
	if rapid.Bool().Draw(t, "whole groups") {
		o.BatchSize = sampler.WholeGroups
	}
}

// groups returns the windows of each time, in ascending order of time.
func (f *drawnFeed) groups(data *drawnDataset, exist []place) (groups [][]uint32) {
	byTime := map[int64][]uint32{}
	for number, at := range exist {
		row := f.row(at, f.c+f.gap)
		if f.p == 0 {
			row = f.row(at, f.c-1)
		}
		time := data.time(at.item, row)
		byTime[time] = append(byTime[time], uint32(number))
	}
	for _, time := range slices.Sorted(maps.Keys(byTime)) {
		groups = append(groups, byTime[time])
	}
	return groups
}

// grouped are windows with groups. It implements [sampler.Grouped].
type grouped struct {
	*window.Index
	groups [][]uint32
}

func (g grouped) GroupCount() int64      { return int64(len(g.groups)) }
func (g grouped) Group(i int64) []uint32 { return g.groups[i] }
