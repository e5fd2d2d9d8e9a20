// Package control is how the command line and the Go client find, start and ask a daemon.
//
// [Dir] says which cache directory is meant, [Connect] gives a [Client] of the daemon there,
// starting it where none runs, as docs/PROTOCOL.md tells other clients to do.
package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// DaemonFile is the file in the cache directory that says where the daemon listens.
const DaemonFile = "daemon.json"

// Dir is the cache directory: the flag's, else $TENSORCACHE_DIR, else one in the user's cache
// directory.
func Dir(flag string) (string, error) {
	if flag == "" {
		flag = os.Getenv("TENSORCACHE_DIR")
	}
	if flag == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf(
				"find the user's cache directory: %w; name one with --dir or TENSORCACHE_DIR", err)
		}
		flag = filepath.Join(cache, "tensorcache")
	}
	return filepath.Abs(flag)
}

// errDamaged is returned by ReadDaemon for a file that no daemon wrote like this.
var errDamaged = errors.New("damaged")

// ReadDaemon reads daemon.json; the daemon that wrote it may be gone.
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

// WriteDaemon writes daemon.json so that a reader sees all of it or nothing. Sockets in the
// directory stand there by their names alone: in another container it may be another path.
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
	defer os.Remove(tmp) // which the rename has taken away
	if err := os.WriteFile(tmp, append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, DaemonFile))
}
