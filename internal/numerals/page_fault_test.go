//go:build unix

package numerals

import (
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestAFaultOfTheDestinationIsAPanic(t *testing.T) {
	if !Available {
		t.Skip("the assembly needs AVX2, BMI1 and BMI2 (and no TENSORCACHE_PORTABLE=1)")
	}
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(page)
	text := append(append(make([]byte, Lead), "1\n2\n"...), make([]byte, Pad)...)
	text = text[:len(text)-Pad]
	var p Rows
	p.Reset(1, ',', '.')
	p.Begin(text, 2)
	SetTarget(&p, 0, unsafe.Slice((*int64)(unsafe.Pointer(&page[0])), 2), 1)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e, ok := recover().(interface{ Addr() uintptr }); !ok ||
			e.Addr() != uintptr(unsafe.Pointer(&page[0])) {
			t.Errorf("the panic is %v", e)
		}
	}()
	p.At = Lead
	p.Read()
	t.Error("a page that cannot be written was written")
}
