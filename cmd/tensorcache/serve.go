package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/api"
	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/feed"
	"github.com/tensorcache/tensorcache/internal/jobs"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// autoIdleTime is how long a daemon that a client has started runs without clients.
const autoIdleTime = time.Hour

// shutdownTimeout is when a daemon that was told to stop ends in any case. It must have ended
// within five seconds.
const shutdownTimeout = 4500 * time.Millisecond

type serveOptions struct {
	*options
	auto     bool
	readyFD  int
	detach   bool
	detached bool
	allowUID uidsFlag
	http     string
	roots    []string
	memory   sizeFlag

	idleAfter time.Duration
	logOptions
}

func newServe(o *options) *cobra.Command {
	s := &serveOptions{options: o}
	cmd := &cobra.Command{
		Use: "serve", Short: "run the daemon", Args: cobra.NoArgs,
		Long: "Serve runs the daemon of a cache directory until it is stopped, in the foreground or, " +
			"with --detach, in the background. Clients start one by themselves when none runs.",
		Example: "  tensorcache serve --dir /data/cache",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("http") {
				if err := api.CheckAddress(s.http); err != nil {
					return usageError{fmt.Errorf("--http: %w", err)}
				}
			}
			if err := s.logOptions.check(); err != nil {
				return usageError{err}
			}
			if text := os.Getenv(memoryEnv); text != "" && !cmd.Flags().Changed("memory") {
				if err := s.memory.Set(text); err != nil {
					return usageError{fmt.Errorf("%s: got %q, %w", memoryEnv, text, err)}
				}
			}
			if s.idleAfter < time.Millisecond {
				return usageError{fmt.Errorf("--idle-after: got %v, want 1ms or more", s.idleAfter)}
			}
			if s.detach && !s.detached {
				if cmd.Flags().Changed("ready-fd") {
					return usageError{errors.New("--ready-fd: got it with --detach, which waits until the daemon listens; want one of them")}
				}
				return s.startDetached(cmd)
			}
			return s.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&s.detach, "detach", false, "return once both sockets listen; the daemon "+
		"runs on in the background and logs to daemon.log in the cache directory")
	cmd.Flags().BoolVar(&s.detached, "detached", false, "run as the daemon that --detach starts")
	_ = cmd.Flags().MarkHidden("detached") // --detach gives it
	cmd.Flags().Var(&s.memory, "memory",
		"keep datasets and rings together below this `size`, as 8GiB (default "+
			"$TENSORCACHE_MEMORY, else half of the machine's memory, or of the control group's "+
			"limit)")
	cmd.Flags().BoolVar(&s.auto, "auto", false, "leave after an hour without clients")
	cmd.Flags().IntVar(&s.readyFD, "ready-fd", -1,
		"write \"ok\" to this `descriptor` once both sockets listen")
	cmd.Flags().Var(&s.allowUID, "allow-uid",
		"let in these user `ids` too, besides one's own and root; what they load lies below a "+
			"--root")
	cmd.Flags().StringVar(&s.http, "http", "",
		"serve the control API and the dashboard on this loopback `address` too, for who has "+
			"the token; port 0 is any (127.0.0.1:7007)")
	cmd.Flags().StringArrayVar(&s.roots, "root", nil,
		"let sources below this `folder` be loaded over TCP and by the users of --allow-uid; "+
			"may be given several times (default none)")
	cmd.Flags().DurationVar(&s.idleAfter, "idle-after", autoIdleTime,
		"with --auto, leave after so `long` without clients")
	_ = cmd.Flags().MarkHidden("idle-after") // for tests
	s.logOptions.register(cmd.Flags())
	return cmd
}

// run starts the daemon, serves, and stops: first the jobs, then what serves, then the store.
func (o *serveOptions) run(ctx context.Context) error {
	dir, err := control.Dir(o.dir)
	if err != nil {
		return err
	}
	roots, err := o.sourceRoots()
	if err != nil {
		return usageError{err}
	}
	var standard io.Writer = os.Stderr
	if o.detached {
		standard = &rotatedLog{path: filepath.Join(dir, control.LogFile), file: os.Stderr}
	}
	log, closeLog, err := o.logOptions.open(standard)
	if err != nil {
		return err
	}
	defer closeLog()
	if o.detached {
		if err := os.Chdir("/"); err != nil { // after all relative paths are read
			return err
		}
		if err := resetOOMScore(oomScoreFile); err != nil {
			log.Warn("reset oom_score_adj", "error", err)
		}
	}
	st, err := store.Open(dir, log)
	if err != nil {
		return err
	}
	defer func() {
		if err := st.Close(); err != nil {
			log.Error("close the store", "error", err)
		}
	}()
	st.Budget.Set(o.budget(log))
	sockets, err := listen(dir)
	if err != nil {
		return err
	}
	defer sockets.remove()
	if len(o.allowUID) > 0 {
		if err := sockets.share(dir); err != nil {
			return err
		}
	}

	stopping, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	whenIdle := make(chan struct{})
	manager := jobs.New(jobs.Config{Store: st, Exe: childProgram(), Log: log})
	defer manager.Close()
	feeds := feed.NewServer(feed.Config{Store: st, Log: log, Version: version, AllowUID: o.allowUID,
		Put: manager.Put})
	defer feeds.Close()
	daemonFile := daemonJSON{dir: dir, share: len(o.allowUID) > 0,
		daemon: wire.Daemon{PID: os.Getpid(), Version: version, Protocols: wire.OwnProtocols,
			Control: sockets.controlPath, Feed: sockets.feedPath, Started: time.Now().UTC()}}
	http := api.New(api.Config{Store: st, Feeds: feeds, Jobs: manager, Log: log, Version: version,
		AllowUID: o.allowUID, Stop: stop, StopWhenIdle: sync.OnceFunc(func() { close(whenIdle) }),
		Roots: roots, Opened: func(addr string) { daemonFile.setHTTP(addr, log) }})
	if err := daemonFile.write(); err != nil {
		return fmt.Errorf("announce the daemon: %w", err)
	}
	if o.http != "" {
		if _, err := http.OpenTCP(o.http); err != nil {
			return fmt.Errorf("serve over TCP: %w", err)
		}
	}

	var serving errgroup.Group
	serving.Go(func() error { return http.Serve(sockets.control) })
	serving.Go(func() error { return feeds.Serve(sockets.feed) })
	log.Info("serving", "version", fullVersion(), "pid", os.Getpid(), "dir", dir)
	if err := o.ready(); err != nil {
		log.Warn("report that the daemon is ready", "error", err)
	}

	watch := shutdownWatch{
		dir: dir, whenIdle: whenIdle,
		isUnused: func() bool {
			return o.auto && time.Since(http.LastRequest()) > o.idleAfter &&
				feeds.Connections() == 0 && manager.Running() == 0
		},
		isIdle:   func() bool { return feeds.Attached() == 0 && manager.Running() == 0 },
		interval: min(time.Minute, o.idleAfter/4),
	}
	lock := watch.wait(stopping)
	defer lock.release()
	log.Info("stopping")
	// a service manager that starts the service again then waits for its end
	if err := o.notify(sd.SdNotifyStopping); err != nil {
		log.Warn("tell the service manager that the daemon stops", "error", err)
	}
	time.AfterFunc(shutdownTimeout, func() { forceExit(log, sockets) })
	http.Refuse()
	feeds.Refuse()
	// first, so that clients that wait for a job get a response and do not delay the rest
	manager.Close()
	err = http.Close()
	err = errors.Join(err, sockets.feed.Close())
	return errors.Join(err, serving.Wait())
}

// notify sends a state to the service manager: see sd_notify(3). A daemon that a client has started,
// or that was detached, is not a service, even if the process that started it is one.
func (o *serveOptions) notify(state string) error {
	if o.auto || o.detached {
		return nil
	}
	_, err := sd.SdNotify(false, state)
	return err
}

// ready says that the daemon listens: to the service manager, and over the file descriptor to the
// process that started it.
func (o *serveOptions) ready() error {
	err := o.notify(sd.SdNotifyReady)
	if o.readyFD < 0 {
		return err
	}
	f := os.NewFile(uintptr(o.readyFD), "ready")
	if f == nil {
		return errors.Join(err, fmt.Errorf("descriptor %d is not open", o.readyFD))
	}
	_, wrote := f.WriteString("ok\n")
	return errors.Join(err, wrote, f.Close())
}

// childProgram returns the program that children run: this one, even if its file was replaced
// since.
func childProgram() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return exe
}

// sockets are the listeners of the daemon.
type sockets struct {
	control, feed         *net.UnixListener
	controlPath, feedPath string
	// dir is a directory for the sockets if the path of the cache directory is too long.
	dir        string
	daemonFile string
}

// remove removes the files that exist only while a daemon runs.
func (s *sockets) remove() {
	_ = os.Remove(s.daemonFile)
	_ = s.control.Close()
	_ = s.feed.Close()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// withUmask calls f with a umask that makes new sockets inaccessible for others.
func withUmask(f func() error) error {
	old := unix.Umask(0o177)
	defer unix.Umask(old)
	return f()
}
