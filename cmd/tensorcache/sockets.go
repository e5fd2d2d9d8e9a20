package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorcache/tensorcache/internal/control"
)

// maxSocketDir is the longest path of a cache directory that contains its sockets. The path of a
// socket may have 104 bytes on macOS and 108 on Linux.
const maxSocketDir = 90

// socketDirPrefix is the first part of the name of a directory for sockets, below the system's
// temporary directory.
const socketDirPrefix = "tensorcache-"

// listen opens both sockets. It removes those of an earlier daemon; the caller must have locked the
// cache directory.
func listen(dir string) (*sockets, error) {
	s := &sockets{daemonFile: filepath.Join(dir, control.DaemonFile)}
	removeStaleSocketDir(dir)
	at := dir
	if len(dir) > maxSocketDir {
		socketDir, err := os.MkdirTemp("", socketDirPrefix) // mode 0700
		if err != nil {
			return nil, err
		}
		s.dir, at = socketDir, socketDir
	}
	s.controlPath, s.feedPath = filepath.Join(at, "control.sock"), filepath.Join(at, "feed.sock")
	err := withUmask(func() (err error) {
		if s.control, err = listenAt(s.controlPath); err != nil {
			return err
		}
		s.feed, err = listenAt(s.feedPath)
		return err
	})
	if err != nil {
		if s.control != nil {
			err = errors.Join(err, s.control.Close())
		}
		if s.dir != "" {
			err = errors.Join(err, os.Remove(s.dir))
		}
		return nil, err
	}
	return s, nil
}

func listenAt(path string) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// removeStaleSocketDir removes the directory for sockets that a killed daemon of this cache
// directory has left.
func removeStaleSocketDir(dir string) {
	d, err := control.ReadDaemon(dir)
	if err != nil {
		return
	}
	if socketDir := filepath.Dir(d.Control); socketDir != dir &&
		filepath.Dir(socketDir) == filepath.Clean(os.TempDir()) &&
		strings.HasPrefix(filepath.Base(socketDir), socketDirPrefix) {
		_ = os.RemoveAll(socketDir)
	}
}

// share lets other users connect to the sockets, which check the user id of each peer. In the cache
// directory they can read only daemon.json.
func (s *sockets) share(dir string) error {
	modes := map[string]os.FileMode{dir: 0o711, s.controlPath: 0o666, s.feedPath: 0o666}
	if s.dir != "" {
		modes[s.dir] = 0o711
	}
	for path, mode := range modes {
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
	}
	return nil
}
