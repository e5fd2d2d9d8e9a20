package sampler_test

import (
	"flag"
	"testing"
)

// TestMain asks for 500 cases of each property; -rapid.checks asks for another number.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "500"); err != nil {
		panic(err)
	}
	m.Run()
}
