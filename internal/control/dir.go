// Package control finds and starts a daemon, and sends requests to it. The command line and the Go
// client use it.
//
// [Dir] returns the cache directory. [Connect] returns a [Client] of the daemon of a directory. If
// none runs, it starts one, as docs/PROTOCOL.md describes for other clients.
package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// DaemonFile is the name of the file in the cache directory that says where the daemon listens.
const DaemonFile = "daemon.json"

// Dir returns the cache directory: the flag, else $TENSORCACHE_DIR, else tensorcache in the user's
// cache directory.
func Dir(flag string) (string, error) {
	if flag == "" {
		flag = os.Getenv("TENSORCACHE_DIR")
	}
	if flag == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf(
				"find the user's cache directory: %w; name one with `dir` or TENSORCACHE_DIR", err)
		}
		flag = filepath.Join(cache, "tensorcache")
	}
	return filepath.Abs(ExpandHome(flag))
}

// ExpandHome returns a path with the home directory in place of a leading ~. Shells leave one in
// quotes, or behind an equal sign, as it is.
func ExpandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

// errDamaged is returned by ReadDaemon for a file that is not JSON of a daemon.
var errDamaged = errors.New("damaged")

// ReadDaemon reads daemon.json. The daemon that wrote it may have ended.
func ReadDaemon(dir string) (wire.Daemon, error) {
	var d wire.Daemon
	b, err := os.ReadFile(filepath.Join(dir, DaemonFile))
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return d, fmt.Errorf("%w: %s: %w", errDamaged, filepath.Join(dir, DaemonFile), err)
	}
	for _, socket := range []*string{&d.Control, &d.Feed} {
		if *socket != "" && !filepath.IsAbs(*socket) {
			*socket = filepath.Join(dir, *socket)
		}
	}
	return d, nil
}

// WriteDaemon writes daemon.json atomically. It writes the names of sockets inside the directory
// without a path, because another container may mount the directory at another path.
func WriteDaemon(dir string, d wire.Daemon) error {
	for _, socket := range []*string{&d.Control, &d.Feed} {
		if filepath.Dir(*socket) == filepath.Clean(dir) {
			*socket = filepath.Base(*socket)
		}
	}
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, "tmp", DaemonFile)
	defer os.Remove(tmp) // does nothing after the rename
	if err := os.WriteFile(tmp, append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, DaemonFile))
}
