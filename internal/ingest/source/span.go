package source

// MaxRecordBytes is the largest size of a row of a text file and of a TFRecord record. It limits
// the memory of a row.
const MaxRecordBytes = 64 << 20

// Span is a range of bytes of a file that contains only whole rows.
type Span struct {
	Begin, End  int64 // file offsets
	Row0, Line0 int64 // numbers of rows and lines before the span
	Rows        int64 // number of rows in the span
}
