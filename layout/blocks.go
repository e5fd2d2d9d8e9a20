package layout

import "slices"

// tileBytes is the size of the blocks in which columns are processed. A block stays in a core's own
// cache until all steps have read it.
const tileBytes = 64 << 10

// eachTile calls visit with the rows from row to rows-1 of a column, as contiguous blocks of about
// tileBytes. stride is the bytes between row starts, and width the bytes of a row. A block is valid
// until visit returns.
func eachTile(data []byte, stride, width, row, rows int64, visit func(block []byte)) {
	perTile := max(1, tileBytes/width)
	var dense []byte
	for ; row < rows; row += perTile {
		n := min(perTile, rows-row)
		block := data[row*stride:]
		if stride == width {
			visit(block[:n*width])
			continue
		}
		dense = slices.Grow(dense[:0], int(n*width))
		for i := range n {
			dense = append(dense, block[i*stride:i*stride+width]...)
		}
		visit(dense)
	}
}
