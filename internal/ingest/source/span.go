package source

// MaxRecordBytes bounds one row of a text file, and with it the memory that it takes.
const MaxRecordBytes = 64 << 20

// Span is a stretch of a text file that holds whole rows.
type Span struct {
	Begin, End  int64
	Row0, Line0 int64 // rows and lines before it
	Rows        int64
}
