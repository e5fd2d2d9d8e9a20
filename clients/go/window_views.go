package tensorcache

import "fmt"

// view sets the parts of a batch to slices of the mapped file. The windows are of one item and
// start a stride apart.
func (r *windowReader[T]) view(b, buffer *Batch[T], stride int64) error {
	if err := r.checkPlaces(b.ItemCode, b.Start); err != nil {
		return err
	}
	n := int64(b.Len())
	if n == 0 {
		return fmt.Errorf("%w: a view of no windows", ErrProtocol)
	}
	row := r.windows.itemRows.offsets[b.ItemCode[0]] + b.Start[0]
	for _, p := range r.parts {
		values, _ := b.part(p.name)
		if p.isStatic() {
			buffer.Static = withShape(buffer.Static, p.shapeOf(b.Len()))
			r.gatherPart(p, b.ItemCode, b.Start, buffer.Static)
			r.replaceMissing(p, buffer.Static)
			*values = buffer.Static
			continue
		}
		from, to := (row+p.samples.from)*p.width, (row+(n-1)*stride+p.samples.to)*p.width
		*values = Part[T]{Data: p.rows.Data[from:to:to], Shape: p.shapeOf(b.Len()),
			Step: int(stride * p.width)}
		r.markMissing(p, b, buffer)
	}
	return nil
}

// checkViews returns why windows cannot be slices of the file, or nil. It leaves out the reasons
// for which the daemon refuses views.
func (r *windowReader[T]) checkViews() error {
	if r.dilation > 1 {
		return noView("dilation %d leaves out rows between those of a window", r.dilation)
	}
	for _, p := range r.parts {
		if p.isStatic() {
			continue
		}
		if p.notAdjacent {
			err := noView("the %d columns of the %s are not whole rows of the file",
				p.columns, p.name)
			err.Hint = "load with `layout=\"packed\"`, and name all columns in the order they " +
				"are stored in"
			return err
		}
		if p.width > 1 && p.channelsFirst {
			return noView("channels_first turns the %d columns of the %s around", p.columns, p.name)
		}
	}
	return nil
}

func noView(format string, args ...any) *Error {
	return errorf(InvalidSpec, "delivery", "delivery: no view is possible: %s",
		fmt.Sprintf(format, args...))
}
