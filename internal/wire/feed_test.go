package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRequestsWithoutPartsAreThoseOfVersion01 checks that a daemon of version 0.1, which refuses unknown
// fields, gets no parts, and that an empty list is sent, which asks for places alone.
func TestRequestsWithoutPartsAreThoseOfVersion01(t *testing.T) {
	for _, request := range []any{FeedRequest{}, PlanRequest{}} {
		if b, err := json.Marshal(request); err != nil || strings.Contains(string(b), "parts") {
			t.Errorf("%s, %v", b, err)
		}
	}
	b, err := json.Marshal(FeedRequest{Parts: []PartRequest{}})
	if err != nil || !strings.Contains(string(b), `"parts":[]`) {
		t.Errorf("%s, %v", b, err)
	}
}
