package api

import (
	"container/list"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"
)

// crowd is a listener that has at most so many connections, and serves on however many more come: those of which a request is served
// stay, and of the others the one that has said nothing for longest makes room. So ten thousand connections that send nothing, or half
// of something, keep nobody out. It outlasts a failed accept, of which the want of descriptors is the usual cause: fasthttp would
// answer nobody ever after.
type crowd struct {
	net.Listener
	log            *slog.Logger
	most, mostBusy int // at least one fewer busy than all: there is always one to make room
	writeTime      time.Duration

	mu   sync.Mutex
	idle *list.List // of *guest, who waits for longest first
	busy map[*guest]struct{}
}

// crowdShare is the part of the descriptors that a process may open, one in so many, that one crowd takes at most: datasets, trainers and
// loads need the others.
const crowdShare = 4

// fewest is how many connections a crowd has at least; one in spareShare of a small one is spare.
const (
	fewest     = 4
	spareShare = 4
)

// newCrowd makes a crowd of at most so many, of which spare are never busy, or of fewer where the process may open few descriptors.
func newCrowd(l net.Listener, log *slog.Logger, most, spare int, descriptors int64) *crowd {
	if few := max(descriptors/crowdShare, fewest); few < int64(most) {
		most, spare = int(few), min(spare, int(few)/spareShare)
	}
	return &crowd{Listener: l, log: log, most: most, mostBusy: most - spare, writeTime: writeTime, idle: list.New(), busy: map[*guest]struct{}{}}
}

// acceptPause keeps a daemon without descriptors from spinning.
const acceptPause = 100 * time.Millisecond

// Accept waits for a connection and makes room for it.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err == nil {
			return c.admit(conn), nil
		}
		if errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		c.log.Warn("accept", "error", err)
		time.Sleep(acceptPause)
	}
}

func (c *crowd) admit(conn net.Conn) *guest {
	g := &guest{Conn: conn, crowd: c}
	c.mu.Lock()
	var leaves *guest
	if c.idle.Len()+len(c.busy) >= c.most {
		leaves = c.idle.Remove(c.idle.Front()).(*guest)
		leaves.place = nil
	}
	g.place = c.idle.PushBack(g)
	c.mu.Unlock()
	if leaves != nil {
		_ = leaves.Conn.Close()
	}
	return g
}

// served is how many connections are busy.
func (c *crowd) served() int {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.busy)
}

// closeAll cuts all connections off.
func (c *crowd) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.idle.Front(); e != nil; e = e.Next() {
		_ = e.Value.(*guest).Conn.Close()
	}
	for g := range c.busy {
		_ = g.Conn.Close()
	}
}

// guest is a connection in a crowd.
type guest struct {
	net.Conn
	crowd *crowd
	place *list.Element // among the idle; nil while it is busy and once it has left. The crowd's mu guards it.
}

// enter makes the guest busy until it next listens. It tells false where too many are.
func (g *guest) enter() bool {
	c := g.crowd
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, is := c.busy[g]; is {
		return true
	}
	if g.place == nil || len(c.busy) >= c.mostBusy {
		return false
	}
	c.idle.Remove(g.place)
	g.place = nil
	c.busy[g] = struct{}{}
	return true
}

// Read waits for the client: what it asked for before was served.
func (g *guest) Read(b []byte) (int, error) {
	c := g.crowd
	c.mu.Lock()
	if _, is := c.busy[g]; is {
		delete(c.busy, g)
		g.place = c.idle.PushBack(g)
	}
	c.mu.Unlock()
	return g.Conn.Read(b)
}

// Write gives the client so long to take what is written, each time: an answer may be a stream without end.
func (g *guest) Write(b []byte) (int, error) {
	if err := g.Conn.SetWriteDeadline(time.Now().Add(g.crowd.writeTime)); err != nil {
		return 0, err
	}
	return g.Conn.Write(b)
}

func (g *guest) Close() error {
	c := g.crowd
	c.mu.Lock()
	delete(c.busy, g)
	if g.place != nil {
		c.idle.Remove(g.place)
		g.place = nil
	}
	c.mu.Unlock()
	return g.Conn.Close()
}
