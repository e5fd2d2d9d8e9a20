package layout

// CollectBytes is how large a buffer [Dest.Collected] takes. Pieces of the file that are written at once and begin and end at multiples
// of it lie in large folios of the page cache, which cost a third less to write and half as much to map as those of pages that
// happen to be as long as a source's.
const CollectBytes = 1 << 20

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
	if d.write == nil || d.Step != d.values() || d.Rows*d.Step*d.DType.Size() < CollectBytes {
		return d, func() {}
	}
	g := &collector{to: d, buffer: buffer[:CollectBytes]}
	d.collector = g
	return d, g.flush
}

// put gathers rows. ok is false where they had better be stored at once: few that do not follow those before.
func (c *collector) put(row int64, bytes []byte) (ok bool) {
	size := c.to.Step * c.to.DType.Size()
	if row != c.next || c.n == 0 {
		if len(bytes) < writeLeast {
			return false
		}
		c.flush()
		c.at = c.to.offset + row*size
	}
	c.next = row + int64(len(bytes))/size
	if r := c.to.running; r != nil && !r.take(row, bytes) {
		if n := len(c.late); n > 0 && c.late[n-1].to == row {
			c.late[n-1].to = c.next
		} else {
			c.late = append(c.late, rowRange{row, c.next})
		}
	}
	for len(bytes) > 0 {
		n := copy(c.buffer[c.n:CollectBytes-int(c.at%CollectBytes)], bytes)
		bytes, c.n = bytes[n:], c.n+n
		if (c.at+int64(c.n))%CollectBytes == 0 {
			c.write()
		}
	}
	return true
}

// write stores what is gathered.
func (c *collector) write() {
	if c.to.write(c.buffer[:c.n], c.at) != nil {
		copy(c.to.data[c.at-c.to.offset:], c.buffer[:c.n])
	}
	c.at, c.n = c.at+int64(c.n), 0
}

func (c *collector) flush() {
	if c.n > 0 {
		c.write()
	}
	for _, l := range c.late {
		c.to.running.stored(l.from, l.to-l.from)
	}
	c.late = c.late[:0]
}
