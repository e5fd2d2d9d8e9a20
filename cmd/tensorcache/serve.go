package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/api"
	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/feed"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// daemonMemory is the soft limit of the daemon's own heap: it holds no data.
const daemonMemory = 48 << 20

// idleExit is how long a daemon that a client started stays without clients.
const idleExit = time.Hour

type serveOptions struct {
	*options
	auto     bool
	readyFD  int
	allowUID []int
	http     string
	roots    []string
	memory   size
}

func newServe(o *options) *cobra.Command {
	s := &serveOptions{options: o}
	cmd := &cobra.Command{
		Use: "serve", Short: "run the daemon in the foreground", Args: cobra.NoArgs,
		Long:    "Serve runs the daemon of a cache directory until it is stopped. Clients start one by themselves when none runs.",
		Example: "  tensorcache serve --dir /data/cache",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("http") {
				if err := api.CheckAddress(s.http); err != nil {
					return usageError{fmt.Errorf("--http: %w", err)}
				}
			}
			return s.run(cmd.Context())
		},
	}
	cmd.Flags().Var(&s.memory, "memory", "keep datasets and rings together below this `size`, as 8GiB (default half of the machine's memory, or of the control group's limit)")
	cmd.Flags().BoolVar(&s.auto, "auto", false, "leave after an hour without clients")
	cmd.Flags().IntVar(&s.readyFD, "ready-fd", -1, "write \"ok\" to this `descriptor` once both sockets listen")
	cmd.Flags().IntSliceVar(&s.allowUID, "allow-uid", nil, "let in these user `ids` too, besides one's own and root")
	cmd.Flags().StringVar(&s.http, "http", "", "serve the control API and the dashboard on this loopback `address` too, for who has the token; port 0 is any (127.0.0.1:7007)")
	cmd.Flags().StringArrayVar(&s.roots, "root", nil, "let sources below this `folder` be loaded over TCP; may be given several times (default none)")
	return cmd
}

// run holds the order of start and stop: what serves ends before what it serves from.
func (o *serveOptions) run(ctx context.Context) error {
	dir, err := control.Dir(o.dir)
	if err != nil {
		return err
	}
	roots, err := o.sourceRoots()
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(daemonMemory)
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	st, err := store.Open(dir, log)
	if err != nil {
		return err
	}
	defer func() {
		if err := st.Close(); err != nil {
			log.Error("close the store", "error", err)
		}
	}()
	st.SetBudget(o.budget(log))
	sockets, err := listen(dir)
	if err != nil {
		return err
	}
	defer sockets.remove()

	stopping, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	jobs := api.NewJobs(st, executable(), log)
	defer jobs.Close()
	feeds := feed.NewServer(feed.Config{Store: st, Log: log, Version: version, AllowUID: o.allowUID, Put: jobs.Put})
	defer feeds.Close()
	told := announcement{dir: dir, daemon: wire.Daemon{PID: os.Getpid(), Version: version, Protocol: wire.Protocol, Control: sockets.controlPath, Feed: sockets.feedPath, Started: time.Now().UTC()}}
	http := api.New(api.Config{Store: st, Feeds: feeds, Jobs: jobs, Log: log, Version: version, AllowUID: o.allowUID, Stop: stop, Roots: roots, Opened: func(addr string) { told.http(addr, log) }})
	if o.http != "" {
		if _, err := http.OpenTCP(o.http); err != nil {
			return fmt.Errorf("serve over TCP: %w", err)
		}
	}

	var serving errgroup.Group
	serving.Go(func() error { return http.Serve(sockets.control) })
	serving.Go(func() error { return feeds.Serve(sockets.feed) })
	if err := told.write(); err != nil {
		stop()
		log.Error("announce the daemon", "error", err)
	}
	if err := o.ready(); err != nil {
		log.Warn("nobody waits for the daemon to be ready", "error", err)
	}
	log.Info("serving", "version", fullVersion(), "pid", os.Getpid(), "dir", dir)

	idle := func() bool {
		return time.Since(http.LastRequest()) > idleExit && feeds.Connections() == 0 && jobs.Running() == 0
	}
	lock := waitForEnd(stopping, o.auto, dir, idle)
	defer lock.release()
	log.Info("stopping")
	err = sockets.feed.Close()
	jobs.Close() // first: whoever waits for a load is told, and does not hold up the rest
	err = errors.Join(err, http.Close())
	_ = sockets.control.Close() // closed already, unless the stop came before serving began
	return errors.Join(err, serving.Wait())
}

// startLock is held by a daemon that leaves because it is idle, so that no client starts one meanwhile.
type startLock struct{ file *os.File }

func (l startLock) release() {
	if l.file != nil {
		l.file.Close()
	}
}

// waitForEnd returns when the daemon is to end: it was told to, or nobody has used it for long.
func waitForEnd(stopping context.Context, auto bool, dir string, idle func() bool) startLock {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-stopping.Done():
			return startLock{}
		case <-tick.C:
		}
		if !auto || !idle() {
			continue
		}
		lock, err := control.LockStart(dir)
		if err != nil {
			continue
		}
		if idle() {
			return startLock{lock}
		}
		lock.Close()
	}
}

// ready tells whoever started the daemon that it listens.
func (o *serveOptions) ready() error {
	if o.readyFD < 0 {
		return nil
	}
	f := os.NewFile(uintptr(o.readyFD), "ready")
	if f == nil {
		return fmt.Errorf("descriptor %d is not open", o.readyFD)
	}
	_, err := f.WriteString("ok\n")
	return errors.Join(err, f.Close())
}

// executable is what a load's child runs: this very program, also where its file was replaced since.
func executable() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return exe
}

// sockets are the daemon's listeners.
type sockets struct {
	control, feed         *net.UnixListener
	controlPath, feedPath string
	dir                   string // of its own, where the cache directory's path is too long
	daemonFile            string
}

// remove deletes what only a running daemon has.
func (s *sockets) remove() {
	_ = os.Remove(s.daemonFile)
	_ = s.control.Close()
	_ = s.feed.Close()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// umask keeps the sockets from others from the moment they exist.
func withUmask(f func() error) error {
	old := unix.Umask(0o177)
	defer unix.Umask(old)
	return f()
}
