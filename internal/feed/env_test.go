package feed

import (
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
	"github.com/tensorcache/tensorcache/internal/testlog"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// testEnv is a store and a server on a socket. At the end of the test it checks that they leave
// nothing behind.
type testEnv struct {
	dir    string
	path   string // of the socket
	store  *store.Store
	server *Server
	stop   func()
	log    *testlog.Buffer
}

// panickingDataset is the name of a dataset whose put panics.
const panickingDataset = "panics"

// largeBudget is more memory than the rings of any test need.
const largeBudget = 1 << 40

func newTestEnv(t testing.TB, budget int64) *testEnv {
	t.Helper()
	env := &testEnv{dir: t.TempDir(), log: testlog.Writer(t)}
	log := slog.New(slog.NewTextHandler(env.log, nil))
	env.store = must(store.Open(env.dir, log))(t)
	env.store.Budget.Set(budget)
	short := must(os.MkdirTemp("", "feed"))(t) // t.TempDir may be too long for a socket
	env.path = filepath.Join(short, "feed.sock")
	listener := must(net.ListenUnix("unix", &net.UnixAddr{Name: env.path, Net: "unix"}))(t)
	env.server = NewServer(Config{Store: env.store, Log: log, Version: "test",
		Put: func(ctx context.Context, r wire.PutRequest, conn *os.File) (*wire.PutReply, error) {
			defer conn.Close()
			if r.Dataset == panickingDataset {
				panic("as asked")
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
	served := make(chan error, 1)
	go func() { served <- env.server.Serve(listener) }()
	env.stop = sync.OnceFunc(func() {
		listener.Close()
		env.server.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := env.store.Close(); err != nil {
			t.Error(err)
		}
		env.checkEmpty(t)
		os.RemoveAll(short)
	})
	t.Cleanup(env.stop)
	return env
}

// checkEmpty fails the test if resources of feeds are left.
func (env *testEnv) checkEmpty(t testing.TB) {
	t.Helper()
	if n := env.server.Connections(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
	if f, rings := env.server.Feeds(), env.store.Budget.Usage().Rings; len(f) != 0 || rings != 0 {
		t.Errorf("%d feeds and %d bytes of rings are left", len(f), rings)
	}
	if left := must(os.ReadDir(filepath.Join(env.dir, "tmp")))(t); len(left) != 0 {
		t.Errorf("%v is left in tmp", left)
	}
}

// publishSeries publishes a dataset of one item. Its float64 column a counts the rows, and b is −a.
func (env *testEnv) publishSeries(t tb, name string, rows int64) {
	t.Helper()
	storetest.Publish(t, env.store, name, layout.Table{Rows: rows, Columns: []layout.Column{
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

// request returns a request of windows of 4 + 2 rows.
func request(dataset string, change ...func(map[string]any)) map[string]any {
	r := map[string]any{
		"protocol": wire.OwnProtocols.Newest, "client": "test/1", "request": "feed",
		"dataset": dataset,
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

// attachFeed attaches a feed without a connection.
func (env *testEnv) attachFeed(t *testing.T, request map[string]any) (st *feed, detach func()) {
	t.Helper()
	var r wire.FeedRequest
	if err := json.Unmarshal(asJSON(request), &r); err != nil {
		t.Fatal(err)
	}
	h := must(env.store.Acquire(r.Dataset, 0))(t)
	st, _, err := env.server.attach(peer.Process{PID: os.Getpid()}, h, r)
	if err != nil {
		h.Release()
		t.Fatal(err)
	}
	return st, func() {
		env.server.detach(st)
		h.Release()
	}
}
