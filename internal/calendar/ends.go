package calendar

// Ends are the ends of items, and how their times continue.
type Ends struct {
	Offsets []int64 // the first row of each item, and the number of rows
	Times   []int64 // of all rows; nil if no column is of the time
	Step    int64   // in time, of items of one row
}

// End is the end of an item.
type End struct {
	First, End int64 // rows of the dataset: [First, End)
	Last, Step int64 // the last time, and the regular step of the times
}

// Of returns the end of an item, which has rows.
func (e *Ends) Of(item int64) End {
	end := End{First: e.Offsets[item], End: e.Offsets[item+1], Step: e.Step}
	if e.Times != nil {
		end.Last = e.Times[end.End-1]
		if end.End-end.First > 1 {
			end.Step = end.Last - e.Times[end.End-2]
		}
	}
	return end
}
