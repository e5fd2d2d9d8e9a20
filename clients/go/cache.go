package tensorcache

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// Options name a daemon. The zero value is the user's own.
type Options struct {
	// Dir is the cache directory. "" is $TENSORCACHE_DIR, or else the one in the user's cache
	// directory.
	Dir string
	// NoStart keeps Connect from starting a daemon, as the environment variable
	// TENSORCACHE_AUTOSTART=0 does.
	NoStart bool
}

// Cache is a connection to the daemon of one cache directory. It is safe for concurrent use.
type Cache struct {
	dir     string
	control *control.Client
}

// Connect connects to the daemon of a cache directory. If none runs, it starts one: the binary
// $TENSORCACHE_BIN, or else tensorcache in $PATH. If several programs do so at once, one daemon
// starts. A daemon that was started so exits when it is idle. The error wraps ErrNoDaemon or
// ErrProtocol.
func Connect(ctx context.Context, o Options) (*Cache, error) {
	dir, err := control.Dir(o.Dir)
	if err != nil {
		return nil, err
	}
	exe := daemonBinary
	if o.NoStart {
		exe = nil
	}
	c, err := control.ConnectWith(ctx, dir, exe)
	if err != nil {
		return nil, clientError(err)
	}
	return &Cache{dir: dir, control: c}, nil
}

// daemonBinary returns the path of the daemon's binary.
func daemonBinary() (string, error) {
	if named := os.Getenv("TENSORCACHE_BIN"); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%w: TENSORCACHE_BIN names %q, which is no executable file",
				ErrNoDaemon, named)
		}
		return filepath.Abs(path)
	}
	path, err := exec.LookPath("tensorcache")
	if err != nil {
		return "", fmt.Errorf(
			"%w runs, and no tensorcache is in PATH to start one; go install github.com/tensorcache/tensorcache/cmd/tensorcache makes it, or name one with TENSORCACHE_BIN", ErrNoDaemon)
	}
	return filepath.Abs(path)
}

// Dir returns the cache directory.
func (c *Cache) Dir() string { return c.dir }

// Close closes idle connections. Open datasets and feeds stay open. Calling it again does nothing.
func (c *Cache) Close() { c.control.Close() }

// Info describes the newest generation of a dataset.
type Info struct {
	Dataset    string    `json:"dataset"`
	Generation int64     `json:"generation"`
	Digest     string    `json:"digest"` // 32 hex digits that identify the content
	Rows       int64     `json:"rows"`
	Items      int64     `json:"items"`
	Columns    []string  `json:"columns"`
	Layout     string    `json:"layout"`  // columns or packed
	Bytes      int64     `json:"bytes"`   // of its files
	Created    time.Time `json:"created"` // when it was loaded
	Readers    int       `json:"readers"` // open handles on its generations
}

// Datasets lists all datasets.
func (c *Cache) Datasets(ctx context.Context) ([]Info, error) {
	list, err := control.List[infoPage](ctx, c.control, "/v1/datasets")
	return list, clientError(err)
}

// infoPage is a page of the list of datasets.
type infoPage struct {
	Datasets []Info  `json:"datasets"`
	Next     *string `json:"next"`
}

func (p infoPage) Page() ([]Info, *string) { return p.Datasets, p.Next }

// Remove removes a dataset for good and returns the numbers of its generations. Open handles stay
// valid. The error is of type DatasetNotFound if no dataset has the name.
func (c *Cache) Remove(ctx context.Context, name string) ([]int64, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	var reply wire.Removed
	err := c.control.Delete(ctx, control.Dataset(name, ""), &reply)
	return reply.Removed, clientError(err)
}

// Stop stops the daemon and returns after it has exited. The next daemon finds the cache as it is.
func (c *Cache) Stop(ctx context.Context) error {
	before, _ := control.ReadDaemon(c.dir)
	var reply wire.Stopping
	if err := c.control.Post(ctx, "/v1/stop", struct{}{}, &reply); err != nil {
		return clientError(err)
	}
	c.control.Close()
	return control.WaitGone(ctx, c.dir, control.Stopped(before, reply.PID))
}

// checkName returns an error of type InvalidName for a string that is no dataset's name.
func checkName(name string) error {
	if err := layout.CheckName(name); err != nil {
		return &Error{Type: InvalidName, Detail: err.Error(), Field: "dataset"}
	}
	return nil
}
