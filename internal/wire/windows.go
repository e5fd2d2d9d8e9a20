package wire

// WindowsRequest asks what a few windows hold: those with the numbers, or the one of an item whose
// rows hold a row and whose start is nearest before it.
type WindowsRequest struct {
	Parts
	Numbers []int64 `json:"numbers"`
	Code    *int64  `json:"code"`
	Row     *int64  `json:"row"`
}

// Windows answers POST /v1/datasets/{name}/windows.
type Windows struct {
	Windows  []WindowContent `json:"windows"`
	Features Features        `json:"features"`
}

// WindowContent is a window and what a feed delivers of it. Context, Target and Known are a list of
// features for each row, nil where the window has no such part; a missing value is nil, infinities
// are as in [Rows]. Mask tells which context rows are no padding, and is nil where none is. Part is
// the part of the split, where there is one, that has the window.
type WindowContent struct {
	Number  int64   `json:"number"`
	Code    int64   `json:"code"`
	Item    any     `json:"item"`
	Start   int64   `json:"start"`
	Time    any     `json:"time"`
	Part    *string `json:"part"`
	Context [][]any `json:"context"`
	Target  [][]any `json:"target"`
	Known   [][]any `json:"known"`
	Static  []any   `json:"static"`
	Mask    []bool  `json:"mask"`
}
