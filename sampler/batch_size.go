package sampler

import (
	"encoding/json"
	"math"
	"strconv"
)

// BatchSize is the number of windows of a batch, or [WholeGroups]. In JSON it is a number or null.
type BatchSize int64

// WholeGroups makes each batch a whole group. It is allowed in orders with Traits.Groups.
const WholeGroups BatchSize = math.MinInt64

// String returns the batch size as in JSON.
func (b BatchSize) String() string {
	if b == WholeGroups {
		return "null"
	}
	return strconv.FormatInt(int64(b), 10)
}

// MarshalJSON returns the number, or null.
func (b BatchSize) MarshalJSON() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalJSON parses a number or null.
func (b *BatchSize) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*b = WholeGroups
		return nil
	}
	var n int64
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	*b = max(BatchSize(n), WholeGroups+1) // no number means WholeGroups
	return nil
}

// count returns the number of windows, or 0 for WholeGroups.
func (b BatchSize) count() int64 { return max(0, int64(b)) }
