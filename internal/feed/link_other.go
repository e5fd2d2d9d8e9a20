//go:build !linux

package feed

import "net"

// hush has the connection as it is.
func hush(conn *net.UnixConn) (l link, release func(), err error) {
	l, err = newPlain(conn)
	return l, func() {}, err
}
