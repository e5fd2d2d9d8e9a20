package layout

// CollectBytes is how large a buffer [Dest.Collected] takes. Pieces of the file that are written at once and begin and end at multiples
// of it lie in large folios of the page cache, which cost a third less to write and half as much to map as those of pages that
// happen to be as long as a source's. It is that of a large page of the processor, so that one fault maps, and readies to be written anew,
// what takes 512 of smaller ones.
const CollectBytes = 2 << 20

// collector gathers values on their way to the file.
type collector struct {
	to     Dest
	buffer []byte
	n      int        // bytes gathered
	at     int64      // their offset in the file
	next   int64      // the row after those gathered
	late   []rowRange // gathered or written, but not summed up yet
}

// Collected is the column for one goroutine that puts values about in the order of rows: they are gathered in a buffer of CollectBytes
// and stored when that is full, and when flush is called, without which the last are missing. Until then they cannot be read.
func (d Dest) Collected(buffer []byte) (c Dest, flush func()) {
	if d.write == nil || d.Step != d.values() {
		return d, func() {}
	}
	g := &collector{to: d, buffer: buffer[:CollectBytes]}
	d.collector = g
	return d, g.flush
}

// put gathers rows. ok is false where they had better be stored at once: few that do not follow those before.
func (c *collector) put(row int64, bytes []byte) (ok bool) {
	size := c.to.Step * c.to.DType.Size()
	if (row != c.next || c.n == 0) && len(bytes) < writeLeast {
		return false
	}
	c.begin(row)
	c.sum(row+int64(len(bytes))/size, bytes)
	for len(bytes) > 0 {
		n := copy(c.room(), bytes)
		bytes = bytes[n:]
		c.add(n)
	}
	return true
}

// begin makes a row the next one.
func (c *collector) begin(row int64) {
	if row == c.next && c.n > 0 {
		return
	}
	c.flush()
	c.at, c.next = c.to.offset+row*c.to.Step*c.to.DType.Size(), row
}

// room is where bytes are gathered next; there always is some.
func (c *collector) room() []byte { return c.buffer[c.n : CollectBytes-int(c.at%CollectBytes)] }

// add takes in bytes that lie in the room.
func (c *collector) add(n int) {
	if c.n += n; (c.at+int64(c.n))%CollectBytes == 0 {
		c.write()
	}
}

// sum sums up the rows from the next one to another.
func (c *collector) sum(to int64, bytes []byte) {
	row := c.next
	c.next = to
	if a := c.to.sums; a != nil && !a.add(row, bytes) {
		if n := len(c.late); n > 0 && c.late[n-1].to == row {
			c.late[n-1].to = to
		} else {
			c.late = append(c.late, rowRange{row, to})
		}
	}
}

// Gathers tells whether values may be written to the [Room] of a column.
func (d Dest) Gathers() bool { return d.collector != nil && d.Step == 1 && d.Width == 0 }

// Room is where the values of a row of a column that [Dest.Gathers] and of those behind it are gathered: at most n, at least one. They count
// once they are Gathered. T must be what the column is stored as.
func Room[T Native](d Dest, row int64, n int64) []T {
	d.collector.begin(row)
	room := d.collector.room()
	return cast[T](room[:min(int64(len(room)), n*d.DType.Size())])
}

// Gathered takes in n values, which lie at the beginning of the [Room] of their row. They must be part of the column by Rows.
func (d Dest) Gathered(n int64) {
	c := d.collector
	bytes := c.room()[:n*d.DType.Size()]
	c.sum(c.next+n, bytes)
	c.add(len(bytes))
}

// write stores what is gathered.
func (c *collector) write() {
	if b := c.buffer[:c.n]; c.to.write(b, c.at) != nil {
		copy(c.to.data[c.at-c.to.offset:], b)
	} else if c.to.rewrites {
		c.to.populate(c.at, int64(c.n)) // else it is readied later
	}
	c.at, c.n = c.at+int64(c.n), 0
}

func (c *collector) flush() {
	if c.n > 0 {
		c.write()
	}
	for _, l := range c.late {
		c.to.sums.stored(l.from, l.to-l.from)
	}
	c.late = c.late[:0]
}
