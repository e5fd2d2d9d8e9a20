package layout

import (
	"os"
	"strings"
)

// BootID names the time since the machine was started; "" if it cannot be told.
func BootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
