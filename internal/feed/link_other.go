//go:build !linux

package feed

import "net"

// hush has the connection as it is.
func hush(conn *net.UnixConn) (l link, release func(), err error) { return conn, func() {}, nil }
