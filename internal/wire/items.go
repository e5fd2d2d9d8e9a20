package wire

// Items answers GET /v1/datasets/{name}/items. Next is the code after which the next page begins,
// nil on the last one; Count is how many items there are in all, of those that were searched for.
type Items struct {
	Items []Item `json:"items"`
	Next  *int64 `json:"next"`
	Count int64  `json:"count"`
}

// Item is one series of a dataset: its number, its value, and its rows. Times are as in
// [WindowPlace].
type Item struct {
	Code      int64 `json:"code"`
	Item      any   `json:"item"`
	Rows      int64 `json:"rows"`
	FirstTime any   `json:"first_time"`
	LastTime  any   `json:"last_time"`
}
