package layout

import "golang.org/x/sys/unix"

// BootID names the time since the machine was started; "" if it cannot be told.
func BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
