package wire

// Series answers GET /v1/datasets/{name}/series: the rows [From, To) of an item. It has as many
// buckets as the client asked for, or one for each row if there are fewer rows. Row is the first
// row of each bucket. Time is the time of that row, as a number in Unit. Both are empty without a
// time column.
type Series struct {
	ItemCode int64           `json:"item_code"`
	Item     any             `json:"item"`
	Rows     int64           `json:"rows"` // number of rows of the whole item
	From     int64           `json:"from"`
	To       int64           `json:"to"`
	Row      []int64         `json:"row"`
	Time     []int64         `json:"time,omitempty"`
	Unit     string          `json:"unit,omitempty"`
	Series   []FeatureSeries `json:"series"`
}

// FeatureSeries is one feature. Min, Max and Missing are the smallest value, the largest value and
// the number of missing values of each bucket. Min and Max are nil if all values are missing.
// Booleans are 0 and 1, texts are their codes, times and durations are numbers in their unit.
// Infinite values are those of [Rows].
type FeatureSeries struct {
	Column  string  `json:"column"` // as in Features: a[0], a[1], … in a column of shape [rows, n]
	Min     []any   `json:"min"`
	Max     []any   `json:"max"`
	Missing []int64 `json:"missing"`
}
