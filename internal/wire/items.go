package wire

// Items answers GET /v1/datasets/{name}/items. Next is the code that the next page follows, nil on
// the last page. Count is the number of items that match the search.
type Items struct {
	Items []Item `json:"items"`
	Next  *int64 `json:"next"`
	Count int64  `json:"count"`
}

// Item is one series of a dataset: its code, its value, and its rows. Times are written as in
// [WindowPlace].
type Item struct {
	ItemCode  int64 `json:"item_code"`
	Item      any   `json:"item"`
	Rows      int64 `json:"rows"`
	FirstTime any   `json:"first_time"`
	LastTime  any   `json:"last_time"`
}
