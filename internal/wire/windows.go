package wire

// WindowsRequest asks for the values of a few windows: those with the numbers, or one window of the
// item with a code. That window contains the row, and its start is the nearest one before the row.
type WindowsRequest struct {
	SplitSelection
	Numbers  []int64 `json:"numbers"`
	ItemCode *int64  `json:"item_code"`
	Row      *int64  `json:"row"`
}

// Windows answers POST /v1/datasets/{name}/windows.
type Windows struct {
	Windows  []WindowContent `json:"windows"`
	Features Features        `json:"features"`
}

// WindowContent is a window and the values that a feed delivers for it. Context, Target and Known
// have a list of features for each row, and are nil if windows have no such part. NaN is nil: a
// missing value, or padding with that value. Infinite values are those of [Rows]. Mask reports which
// context rows are not padding, and is nil if there is no padding. Part is the part of the split that
// the window belongs to, if there is a split.
type WindowContent struct {
	Number   int64   `json:"number"`
	ItemCode int64   `json:"item_code"`
	Item     any     `json:"item"`
	Start    int64   `json:"start"`
	Time     any     `json:"time"`
	Part     *string `json:"part"`
	Context  [][]any `json:"context"`
	Target   [][]any `json:"target"`
	Known    [][]any `json:"known"`
	Static   []any   `json:"static"`
	Mask     []bool  `json:"mask"`
}
