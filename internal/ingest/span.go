package ingest

// longestLine bounds one row of a text file, and with it the memory that it takes.
const longestLine = 64 << 20

// span is a stretch of a text file that holds whole rows.
type span struct {
	begin, end  int64
	row0, line0 int64 // rows and lines before it
	rows        int64
}
