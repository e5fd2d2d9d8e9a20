package feed

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"

	"github.com/tensorcache/tensorcache/internal/testseed"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// roleVariable makes the test binary run one of roles in place of the tests.
const roleVariable = "TENSORCACHE_FEED_TEST_ROLE"

var roles = map[string]func() error{
	"trainer": runTrainer,
	"holder":  runSocketHolder,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := roles[role](); err != nil {
			fmt.Fprintln(os.Stderr, role, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testseed.Checks(300)
	goleak.VerifyTestMain(m)
}

// tb is implemented by *testing.T and *rapid.T.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// waitTimeout is how long a test waits for an event.
const waitTimeout = time.Minute

func must[T any](v T, err error) func(t tb) T {
	return func(t tb) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// descriptorWords is the size of a descriptor in the queue, in words.
const descriptorWords = wire.DescriptorSize / 8

// unsafeSlice returns aligned bytes as values.
func unsafeSlice[T any](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// int64s returns n integers of a slot.
func int64s(slot []byte, offset int64, n int) []int64 {
	return unsafeSlice[int64](slot[offset:][:n*8])
}

// without returns the elements of all that are not in leave.
func without[T comparable](all, leave []T) []T {
	return slices.DeleteFunc(slices.Clone(all),
		func(one T) bool { return slices.Contains(leave, one) })
}
