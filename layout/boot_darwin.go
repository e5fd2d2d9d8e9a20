package layout

import "golang.org/x/sys/unix"

// BootID returns an identifier of the current boot of the machine, or "" if the system has none.
func BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
