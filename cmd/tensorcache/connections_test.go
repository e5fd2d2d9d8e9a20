package main

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// TestSilentConnectionsLeaveDescriptorsWhereThereAreFew opens ten times as many connections as the
// limit and sends nothing. Within their timeout of five seconds, a new client gets a response, and
// a trainer attaches.
func TestSilentConnectionsLeaveDescriptorsWhereThereAreFew(t *testing.T) {
	const few = 256
	dir := t.TempDir()
	d := startFaulty(t, dir, "", "sh", "-c", `ulimit -n 256 && exec "$@"`, "sh",
		os.Args[0], "serve",
		"--dir", dir, "--ready-fd", "3")
	defer d.stop()
	cache, err := tensorcache.Connect(t.Context(), tensorcache.Options{Dir: dir, NoStart: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	data, err := cache.Put(t.Context(), "x",
		[]tensorcache.PutColumn{tensorcache.Values("a", make([]float32, 1000))},
		tensorcache.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	d.client.Close() // so that it needs a new connection
	for i := range 10 * few / 4 {
		silent, err := (&net.Dialer{}).DialContext(t.Context(), "unix", d.client.Daemon.Control)
		if err != nil {
			t.Fatal(i, err)
		}
		defer silent.Close()
	}
	var m wire.Machine
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); ; <-tick.C {
		err := d.client.Get(context.Background(), "/v1/machine", &m)
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no answer behind silent connections:", err)
		}
	}
	if m.Descriptors.Limit != few || m.Descriptors.Open > few/2 {
		t.Errorf("%+v", m.Descriptors)
	}
	w, err := data.Windows(t.Context(), window.Spec{ContextLength: 3})
	if err != nil {
		t.Fatal(err)
	}
	feed, err := tensorcache.NewFeed[float32](t.Context(), w, tensorcache.FeedOptions{BatchSize: 2})
	if err != nil {
		t.Fatal(err)
	}
	for batch, err := range feed.Epoch(t.Context()) {
		if err != nil || batch.Len() != 2 {
			t.Fatal(batch, err)
		}
		break
	}
	if err := feed.Close(); err != nil {
		t.Error(err)
	}
}
