package note

import (
	"context"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// timeNote says that no column is the time although some have times. If no column is the item
// either, it says how many times do not increase, and returns the column of texts that looks like
// the item, or "".
func (t *Table) timeNote(ctx context.Context, workers int, times, texts []layout.ColumnWriter) (
	n layout.Note, item string, err error) {
	likely, steps := times[0].Name, timeSteps{}
	if !t.has(layout.RoleItemID) {
		for i, c := range times {
			values := layout.Values[int64](c)
			found, err := stepsOf(ctx, workers, values)
			if err != nil {
				return n, "", err
			}
			if item, err = t.itemOf(ctx, workers, values, found, texts); err != nil {
				return n, "", err
			}
			if item != "" {
				return itemNote(item, c.Name, found), item, nil
			}
			if i == 0 || found.increase() && !steps.increase() {
				likely, steps = c.Name, found
			}
		}
	}
	n = layout.Note{
		Field:  "time",
		Detail: have(namesOf(times)) + " times",
		Hint:   "load with " + loaderr.Option("time", likely),
	}
	if !steps.increase() {
		n.Detail = fmt.Sprintf("the times of column %s do not increase at %s", quote(likely),
			loaderr.Count(int(steps.decreases+steps.repeats), "row"))
		n.Hint += fmt.Sprintf(", with `item_id` if the rows are of several items, and with %s if "+
			"they are not in the order of items and times", loaderr.Option("sort", true))
	}
	n.Detail += ", and `time` names no column: order, duplicates and jumps are not checked"
	return n, "", nil
}

// itemOf returns the column of texts that looks like the item: the times decrease at some of its
// changes and nowhere else, and each text is in one range of rows, of which at least one has a time
// that increases. It returns "" if there is none.
func (t *Table) itemOf(ctx context.Context, workers int, times layout.Strided[int64],
	steps timeSteps, texts []layout.ColumnWriter) (string, error) {
	if steps.decreases == 0 {
		return "", nil
	}
	for _, c := range texts {
		ranges, err := rangesOf(ctx, workers, times, layout.Values[int32](c),
			int64(len(t.Words[c.Name])))
		if err != nil {
			return "", err
		}
		if ranges.oneEach && ranges.increases > 0 {
			return c.Name, nil
		}
	}
	return "", nil
}

// itemNote says that a column of texts looks like the item.
func itemNote(item, time string, steps timeSteps) layout.Note {
	return layout.Note{
		Field: "item_id",
		Detail: fmt.Sprintf("column %s looks like the item: the times of column %s decrease at %s, "+
			"each time where it changes; without `item_id`, windows may contain rows of two items",
			quote(item), quote(time), loaderr.Count(int(steps.decreases), "row")),
		Hint: fmt.Sprintf("load with %s and %s", loaderr.Option("item_id", item),
			loaderr.Option("time", time)),
	}
}
