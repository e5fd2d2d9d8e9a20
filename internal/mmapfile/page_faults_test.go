package mmapfile

import (
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"
)

// read reads a byte of memory, and returns the panic of the read.
func read(p *byte) (recovered any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { recovered = recover() }()
	if *p == 0xff { // all mapped bytes are zero
		return "read"
	}
	return nil
}

func TestAFaultNamesTheTruncatedFile(t *testing.T) {
	one, other := mapped(t, make([]byte, 3*pageSize)), mapped(t, make([]byte, 3*pageSize))
	if err := os.Truncate(one.path, pageSize); err != nil {
		t.Fatal(err)
	}
	if p := read(&one.data[pageSize-1]); p != nil {
		t.Errorf("reading the rest panics: %v", p)
	}
	p := read(&one.data[2*pageSize+5])
	if err := FaultError(p); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), one.path) ||
		strings.Contains(err.Error(), other.path) {
		t.Errorf("got %v of %v", err, p)
	}
	if p := read(&other.data[2*pageSize+5]); p != nil {
		t.Errorf("the other file panics: %v", p)
	}
	for _, p := range []any{nil, "a text", errors.New("an error"), read(nil)} {
		if err := FaultError(p); err != nil {
			t.Errorf("%v is %v", p, err)
		}
	}
	at := unsafe.Pointer(&one.data[2*pageSize+5])
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	p = read((*byte)(at))
	if err := FaultError(p); p == nil || err != nil {
		t.Errorf("a file that is not mapped any more: %v of %v", err, p)
	}
}
