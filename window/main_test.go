package window_test

import (
	"flag"
	"testing"
)

// TestMain runs 500 cases of each property, unless -rapid.checks sets another number.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "500"); err != nil {
		panic(err)
	}
	m.Run()
}
