package layout

import (
	"os"
	"strings"
)

// BootID returns an identifier of the current boot of the machine, or "" if the system has none.
func BootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
