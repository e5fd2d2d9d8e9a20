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

// Options say which daemon is meant. The zero value is the user's own.
type Options struct {
	// Dir is the cache directory; "" is $TENSORCACHE_DIR, else the one in the user's cache
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

// Connect finds the daemon of a cache directory and, where none runs, starts one: the binary that
// $TENSORCACHE_BIN names, else the tensorcache of $PATH. Many programs may do so at once; one
// daemon comes of it, and it leaves by itself when nobody needs it. The error wraps ErrNoDaemon or
// ErrProtocol.
func Connect(ctx context.Context, o Options) (*Cache, error) {
	dir, err := control.Dir(o.Dir)
	if err != nil {
		return nil, err
	}
	exe := daemonProgram
	if o.NoStart {
		exe = nil
	}
	c, err := control.ConnectWith(ctx, dir, exe)
	if err != nil {
		return nil, ours(err)
	}
	return &Cache{dir: dir, control: c}, nil
}

// daemonProgram is the daemon's program.
func daemonProgram() (string, error) {
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

// Dir is the cache directory.
func (c *Cache) Dir() string { return c.dir }

// Close lets go of idle connections. Datasets and feeds that are open stay so. Calling it again
// does nothing.
func (c *Cache) Close() { c.control.Close() }

// Info is a dataset in a list, at its newest generation.
type Info struct {
	Dataset    string    `json:"dataset"`
	Generation int64     `json:"generation"`
	Digest     string    `json:"digest"` // stands for the content
	Rows       int64     `json:"rows"`
	Items      int64     `json:"items"`
	Columns    []string  `json:"columns"`
	Layout     string    `json:"layout"` // columns or packed
	Bytes      int64     `json:"bytes"`
	Created    time.Time `json:"created"`
	Readers    int       `json:"readers"`
}

// Datasets lists all datasets.
func (c *Cache) Datasets(ctx context.Context) ([]Info, error) {
	list, err := control.List[infos](ctx, c.control, "/v1/datasets")
	return list, ours(err)
}

// infos are a page of the list of datasets.
type infos struct {
	Datasets []Info  `json:"datasets"`
	Next     *string `json:"next"`
}

func (p infos) Page() ([]Info, *string) { return p.Datasets, p.Next }

// Remove removes a dataset for good and returns its generations. Handles that are open stay valid.
// The error is of type DatasetNotFound where there is none of the name.
func (c *Cache) Remove(ctx context.Context, name string) ([]int64, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	var said wire.Removed
	err := c.control.Delete(ctx, control.Dataset(name, ""), &said)
	return said.Removed, ours(err)
}

// Stop stops the daemon and returns once it has left. What is in the cache stays there for the next
// one.
func (c *Cache) Stop(ctx context.Context) error {
	before, _ := control.ReadDaemon(c.dir)
	var said wire.Stopping
	if err := c.control.Post(ctx, "/v1/stop", struct{}{}, &said); err != nil {
		return ours(err)
	}
	c.control.Close()
	return control.WaitGone(ctx, c.dir, control.Stopped(before, said.PID))
}

// checkName refuses what cannot name a dataset, with an error of type InvalidName.
func checkName(name string) error {
	if err := layout.CheckName(name); err != nil {
		return &Error{Type: InvalidName, Detail: err.Error(), Field: "dataset"}
	}
	return nil
}
