package layout

import "slices"

// blockBytes is the size of the blocks in which columns are processed. A block stays in a core's
// own cache until it is in the checksum and the statistics.
const blockBytes = 64 << 10

// eachBlock calls visit with the rows from row to rows-1 of a column, as contiguous blocks of
// about blockBytes. stride is the bytes between row starts, and width the bytes of a row. A block
// is valid until visit returns.
func eachBlock(data []byte, stride, width, row, rows int64, visit func(block []byte)) {
	perBlock := max(1, blockBytes/width)
	var dense []byte
	for ; row < rows; row += perBlock {
		n := min(perBlock, rows-row)
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
