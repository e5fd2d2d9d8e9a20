package plan

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// TestACutWithARepeatedKeyIsRefused: of a key that is written twice, only one would be applied.
func TestACutWithARepeatedKeyIsRefused(t *testing.T) {
	for _, raw := range []string{`{"where":{"rows":[0,5]},"where":{"rows":[5,9]}}`,
		`{"where":{"rows":[0,5],"rows":[5,9]}}`} {
		if cuts, err := resolveCuts(nil, []wire.Cut{wire.Cut(raw)}); err == nil {
			t.Errorf("%s is read as %v", raw, cuts)
		}
	}
}
