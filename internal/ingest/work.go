package ingest

// work is how a reader goes about it.
type work struct {
	reach       Reach
	workers     int
	block       int64  // bytes of text that a worker reads at once
	dir         string // the job's directory
	text        dialect
	free, ratio int64       // what a compressed file may unpack to: so many bytes, or so many times its size
	unpacked    func(int64) // is told how many bytes of such a file were read since; nil where nobody asks
}
