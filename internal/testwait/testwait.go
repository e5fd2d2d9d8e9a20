// Package testwait waits in tests for what has no event. Only tests import it.
package testwait

import "time"

// Limit is how long Until waits. It allows for a machine that is busy.
const Limit = time.Minute

// Until calls is each millisecond until it returns true. After Limit it fails the test with what is
// waited for.
func Until(t interface {
	Helper()
	Fatalf(string, ...any)
}, what string, is func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(Limit); !is(); <-ticker.C {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", Limit, what)
		}
	}
}
