package layout

import "unsafe"

// writeLeast is from how many bytes on values are written to the file and not into its mapping.
const writeLeast = 64 << 10

// Collects tells whether so many rows are better collected and Put than written one by one.
func (d Dest) Collects(rows int64) bool {
	return d.write != nil && d.Step == d.values() && rows*d.values()*d.DType.Size() >= writeLeast
}

// Put copies whole rows, which lie row after row in src, to a row of the column and those behind it. T must be what the column is
// stored as.
//
// Large pieces go to the file by a write: into pages that it fills as a whole the kernel copies at once, while those that are
// touched through the mapping are cleared and faulted in one by one before. A write that fails is done through the mapping,
// where a page that cannot be had is a fault as everywhere.
func Put[T Native](d Dest, row int64, src []T) {
	if len(src) == 0 {
		return
	}
	size := int64(unsafe.Sizeof(src[0]))
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&src[0])), int64(len(src))*size)
	if d.collector != nil && d.collector.put(row, bytes) {
		return
	}
	taken := d.sums.add(row, bytes)
	store(d, row, src, bytes)
	if !taken {
		d.sums.stored(row, int64(len(src))/d.values())
	}
}

// store stores rows; bytes are those of src.
func store[T Native](d Dest, row int64, src []T, bytes []byte) {
	to := values[T](d)
	if !to.Contiguous() {
		width := int(to.Width)
		for i := 0; i < len(src); i += width {
			copy(to.Row(row+int64(i/width)), src[i:])
		}
		return
	}
	into := to.Data[row*to.Step:][:len(src)]
	at := row * to.Step * int64(unsafe.Sizeof(src[0]))
	if d.write != nil && len(bytes) >= writeLeast && d.write(bytes, d.offset+at) == nil {
		return
	}
	copy(into, src)
}

// Quiet is d for somebody who puts few values at a time, which summing up would have a lock for each: [Dest.Sum] of d tells of them, many
// at once.
func (d Dest) Quiet() Dest {
	d.sums = nil
	return d
}

// Rewritten is d for somebody who collects values that are written anew where they lie, soon: what is stored is readied for that at once, while the
// kernel's notes of it are in the processor's cache, which takes a fraction of the time that [Dest.Populate] takes later.
func (d Dest) Rewritten() Dest {
	d.rewrites = d.populate != nil
	return d
}

// Populate readies rows that are stored already to be written anew where they lie, through the mapping: for large ones in half the
// time of a write past it. ok is false where the system has no way to.
func (d Dest) Populate(row, rows int64) (ok bool) {
	size := d.DType.Size()
	return d.populate != nil && d.populate(d.offset+row*d.Step*size, ((rows-1)*d.Step+d.values())*size)
}

// Sum sums up for the manifest rows that were stored through the [Values] of [Writer.Dest], soon after: they must not change any more.
func (d Dest) Sum(row, rows int64) {
	size := d.Step * d.DType.Size()
	if d.Step != d.values() || !d.sums.add(row, d.data[row*size:(row+rows)*size]) {
		d.sums.stored(row, rows)
	}
}
