package tensorcache

import "context"

// At returns the windows of some numbers, in that order, as a batch in memory of its own. It copies
// from the mapped columns in this process. The first call asks the daemon for the list of windows.
// T is as for [NewFeed]. The error wraps ErrType if a part has another type, and is of type
// InvalidRequest for a number outside of 0 to w.Len()-1.
func At[T Value](ctx context.Context, w *Windows, numbers ...int64) (*Batch[T], error) {
	runs, err := w.fetchRuns(ctx)
	if err != nil {
		return nil, err
	}
	b := &Batch[T]{ItemCode: make([]int64, len(numbers)), Start: make([]int64, len(numbers)),
		itemRows: w.itemRows}
	for i, n := range numbers {
		if n < 0 || n >= runs.Len() {
			return nil, errorf(InvalidRequest, "number", "window %d: there are windows 0 to %d", n,
				runs.Len()-1)
		}
		b.ItemCode[i], b.Start[i] = runs.place(n)
	}
	release, err := w.data.acquire()
	if err != nil {
		return nil, err
	}
	defer release()
	reader, err := newWindowReader[T](w, len(numbers), false, false)
	if err != nil {
		return nil, err
	}
	if reader.padded {
		reader.markRealRows(b, &Batch[T]{})
	}
	return b, reader.gather(b, &Batch[T]{})
}
