package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tensorcache/tensorcache/internal/peer"
	"github.com/tensorcache/tensorcache/internal/storetest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// world is a store and a server on a real socket; when the test ends nothing of them may be left.
type world struct {
	dir    string
	path   string // of the socket
	store  *store.Store
	server *Server
	stop   func()
	log    *logged
}

// logged is a log that a test can look into.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// panics is a dataset that cannot be put.
const panics = "panics"

// roomy is a budget that no test's rings exceed.
const roomy = 1 << 40

func newWorld(t testing.TB, budget int64) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), log: &logged{}}
	log := slog.New(slog.NewTextHandler(w.log, nil))
	w.store = must(store.Open(w.dir, log))(t)
	w.store.Budget.Set(budget)
	short := must(os.MkdirTemp("", "feed"))(t) // t.TempDir may be too long for a socket
	w.path = filepath.Join(short, "feed.sock")
	listener := must(net.ListenUnix("unix", &net.UnixAddr{Name: w.path, Net: "unix"}))(t)
	w.server = NewServer(Config{Store: w.store, Log: log, Version: "test",
		Put: func(ctx context.Context, r wire.PutRequest, conn *os.File) (*wire.PutReply, error) {
			defer conn.Close()
			if r.Dataset == panics {
				panic("as asked")
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(listener) }()
	w.stop = sync.OnceFunc(func() {
		listener.Close()
		w.server.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
		w.checkEmpty(t)
		os.RemoveAll(short)
	})
	t.Cleanup(w.stop)
	return w
}

// checkEmpty fails when anything of feeds is left.
func (w *world) checkEmpty(t testing.TB) {
	t.Helper()
	if n := w.server.Connections(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
	if f, rings := w.server.Feeds(), w.store.Budget.Usage().Rings; len(f) != 0 || rings != 0 {
		t.Errorf("%d feeds and %d bytes of rings are left", len(f), rings)
	}
	if left := must(os.ReadDir(filepath.Join(w.dir, "tmp")))(t); len(left) != 0 {
		t.Errorf("%v is left in tmp", left)
	}
}

// series publishes a dataset of one item with float64 columns a and b, a counting rows and b their
// negatives.
func (w *world) series(t tb, name string, rows int64) {
	t.Helper()
	storetest.Publish(t, w.store, name, layout.Table{Rows: rows, Columns: []layout.Column{
		{Name: "a", Role: layout.RoleValue, DType: layout.Float64},
		{Name: "b", Role: layout.RoleValue, DType: layout.Float64},
	}}, layout.Final{Items: layout.Items{Offsets: []int64{0, rows}}}, func(w *layout.Writer) {
		a, b := layout.Values[float64](w.Column(0, layout.Random)),
			layout.Values[float64](w.Column(1, layout.Random))
		for i := range rows {
			a.Row(i)[0], b.Row(i)[0] = float64(i), -float64(i)
		}
	})
}

// request is a feed of windows of 4 + 2 rows.
func request(dataset string, change ...func(map[string]any)) map[string]any {
	r := map[string]any{
		"protocol": wire.Protocol, "client": "test/1", "request": "feed", "dataset": dataset,
		"spec":    map[string]any{"context_length": 4, "prediction_length": 2},
		"options": map[string]any{"batch_size": 8},
	}
	for _, c := range change {
		c(r)
	}
	return r
}

func with(key string, value any) func(map[string]any) {
	return func(r map[string]any) { r[key] = value }
}

// stream is an attached stream without a connection, and what detaches it.
func (w *world) stream(t *testing.T, request map[string]any) (st *stream, detach func()) {
	t.Helper()
	var r wire.FeedRequest
	if err := json.Unmarshal(asJSON(request), &r); err != nil {
		t.Fatal(err)
	}
	h := must(w.store.Acquire(r.Dataset, 0))(t)
	st, _, err := w.server.attach(peer.Process{PID: os.Getpid()}, h, r)
	if err != nil {
		h.Release()
		t.Fatal(err)
	}
	return st, func() {
		w.server.detach(st)
		h.Release()
	}
}
