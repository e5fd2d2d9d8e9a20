package window_test

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/testseed"
)

// TestMain makes rapid check 500 cases of each property.
func TestMain(m *testing.M) {
	testseed.Checks(500)
	m.Run()
}
