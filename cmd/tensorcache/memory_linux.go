package main

import "golang.org/x/sys/unix"

// totalMemory is the machine's memory in bytes.
func totalMemory() int64 {
	var i unix.Sysinfo_t
	if err := unix.Sysinfo(&i); err != nil {
		return 4 << 30
	}
	return int64(i.Totalram) * int64(i.Unit)
}
