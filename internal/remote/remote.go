// Package remote copies the bytes of HTTP files that a load reads into files below the cache
// directory, where the daemon reads them.
//
// [Stage] asks the servers for size, ETag and time of the last change, and makes a directory with a
// sparse file for each URL. [Staging.Fetch] copies ranges into these files, and compares each
// answer with the first one, so that a file never consists of two versions. [Staging.Close] removes
// the directory. A server that ignores ranges sends whole files.
//
// # Caveats
//
// User, password, query and fragment of a URL may be secrets. They are sent to the host of the URL
// and are in no error, file name or [origin.File]. A redirect to another host gets none of them.
package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/origin"
)

// Options are options of a staging. The zero value works.
type Options struct {
	// Silence is the longest time without a byte from a server; 0 is 30 s.
	Silence time.Duration
	// Pause is the time before the second try of a request, which doubles with each further one; 0
	// is 500 ms.
	Pause time.Duration
	// Progress is called after bytes were copied, by one goroutine at a time. May be nil.
	Progress func(done, total int64)
	// Free returns the free bytes in a directory; nil asks the file system.
	Free func(dir string) (int64, error)
}

// Staging is a directory with copies of remote files. Use one method at a time.
type Staging struct {
	dir      string
	lock     *os.File
	client   *http.Client
	options  Options
	files    []*file
	byPath   map[string]*file
	parts    chan struct{} // one element for each request that copies bytes
	copied   atomic.Int64
	total    atomic.Int64
	progress sync.Mutex // guards calls of Options.Progress
}

// file is one remote file and its copy.
type file struct {
	url
	identity
	path string
	// oneRequest is true if bytes of several answers must not be combined: the server sends whole
	// files only, or nothing says whether two answers are of the same version.
	oneRequest bool

	mu     sync.Mutex
	staged origin.Ranges
	// ranged is true after the server has answered a range with this range.
	ranged bool
}

// Limits of requests at the same time.
const (
	maxDescribing = 8
	maxParts      = 6
)

// Stage describes remote files and makes an empty copy of each in a new directory below the cache
// directory. It copies files whose size their server does not tell. URLs are http and https only;
// see [Parse]. After an error nothing is left.
func Stage(ctx context.Context, cache string, urls []string, o Options) (*Staging, error) {
	o.Silence = cmp.Or(o.Silence, 30*time.Second)
	o.Pause = cmp.Or(o.Pause, 500*time.Millisecond)
	if o.Free == nil {
		o.Free = free
	}
	s := &Staging{options: o, client: newClient(), byPath: map[string]*file{},
		parts: make(chan struct{}, maxParts)}
	for _, text := range urls {
		u, err := parse(text)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, &file{url: u})
	}
	if err := s.begin(ctx, cache); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// begin describes the files and makes their copies.
func (s *Staging) begin(ctx context.Context, cache string) error {
	g, describing := errgroup.WithContext(ctx)
	g.SetLimit(maxDescribing)
	for _, f := range s.files {
		g.Go(func() error { return s.describe(describing, f) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	parent := filepath.Join(cache, "tmp")
	if err := s.makeDirectory(parent); err != nil {
		return directoryError(parent, err)
	}
	for i, f := range s.files {
		// Each in a folder of its own, because URLs of several folders may have the same name.
		dir := filepath.Join(s.dir, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return directoryError(s.dir, err)
		}
		f.path = filepath.Join(dir, f.name())
		s.byPath[f.path] = f
		if err := makeSparse(f.path, max(f.size, 0)); err != nil {
			return s.diskError(err, f.size)
		}
	}
	for _, f := range s.files {
		if f.size >= 0 {
			continue
		}
		if err := s.fetch(ctx, f, nil); err != nil {
			return err
		}
	}
	return nil
}

// makeDirectory makes the staging directory and locks it. The daemon removes those that nobody has
// locked, so it gets its name when it is locked.
func (s *Staging) makeDirectory(parent string) error {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	name := fmt.Sprintf("staging-%d-%s", os.Getpid(), hex.EncodeToString(random[:]))
	dir := filepath.Join(parent, "new-"+name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	s.dir = dir
	lock, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	s.lock = lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	locked := filepath.Join(parent, name)
	if err := os.Rename(s.dir, locked); err != nil {
		return err
	}
	s.dir = locked
	return nil
}

// makeSparse makes a file of a size without any data.
func makeSparse(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// Close removes the directory. It is idempotent.
func (s *Staging) Close() error {
	s.client.CloseIdleConnections()
	var err error
	if s.dir != "" {
		err = os.RemoveAll(s.dir)
	}
	if s.lock != nil { // released last, so that the daemon does not remove the directory too
		err = errors.Join(err, s.lock.Close())
	}
	s.dir, s.lock = "", nil
	return err
}

// Sources returns the paths of the copies, in the order of the URLs.
func (s *Staging) Sources() []string {
	out := make([]string, len(s.files))
	for i, f := range s.files {
		out[i] = f.path
	}
	return out
}

// Origins returns what is staged, in the order of the URLs.
func (s *Staging) Origins() origin.Files {
	out := make(origin.Files, len(s.files))
	for i, f := range s.files {
		out[i] = origin.File{Path: f.path, URL: f.public, ETag: f.etag, Size: f.size,
			Mtime: f.comparedTime(), Ranges: slices.Clone(f.staged)}
		if out[i].Ranges == nil {
			out[i].Ranges = origin.Ranges{} // nil would be all of it
		}
	}
	return out
}
