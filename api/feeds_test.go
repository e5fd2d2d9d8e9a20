package api

import (
	"encoding/json"
	"io"
	"net"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// attachTrainer attaches a feed of a dataset and returns its id and the trainer's connection.
func (w *world) attachTrainer(dataset string) (id string, conn net.Conn) {
	w.Helper()
	id, conn = w.attachFeed(dataset, etthSpec)
	w.Cleanup(func() { conn.Close() })
	return id, conn
}

// attachFeed is attachTrainer with a spec. The caller must close the connection.
func (w *world) attachFeed(dataset string, spec map[string]any) (id string, conn net.Conn) {
	w.Helper()
	conn, err := net.Dial("unix", w.feedPath)
	if err != nil {
		w.Fatal(err)
	}
	request := asJSON(map[string]any{"protocol": wire.OwnProtocols.Newest, "client": "test/1",
		"request": "feed", "dataset": dataset, "spec": spec,
		"options": map[string]any{"batch_size": 8}})
	frame := make([]byte, wire.HeaderSize)
	wire.PutHeader(frame, wire.FrameRequest, len(request))
	if _, err := conn.Write(append(frame, request...)); err != nil {
		w.Fatal(err)
	}
	var reply wire.FeedReply
	if kind, payload := w.readFrame(conn); kind != wire.FrameReply ||
		json.Unmarshal(payload, &reply) != nil {
		w.Fatalf("a frame of kind %d: %s", kind, payload)
	}
	return reply.Feed, conn
}

// readFrame reads a frame from a connection.
func (w *world) readFrame(conn net.Conn) (kind uint32, payload []byte) {
	w.Helper()
	kind, length, err := wire.ReadHeader(conn, make([]byte, wire.HeaderSize), wire.MaxRequest)
	payload = make([]byte, length)
	if err == nil {
		_, err = io.ReadFull(conn, payload)
	}
	if err != nil {
		w.Fatal(err)
	}
	return kind, payload
}

func TestAFeedIsListedShownAndClosed(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	first, conn := w.attachTrainer("etth1")
	second, _ := w.attachTrainer("etth1")
	var list wire.Feeds
	w.decode(w.do("GET", "/v1/feeds?limit=1", nil), 200, &list)
	if len(list.Feeds) != 1 || list.Feeds[0].Feed != first || list.Next == nil ||
		*list.Next != first {
		t.Errorf("%+v", list)
	}
	w.decode(w.do("GET", "/v1/feeds?after="+first, nil), 200, &list)
	if len(list.Feeds) != 1 || list.Feeds[0].Feed != second || list.Next != nil {
		t.Errorf("%+v", list)
	}
	var one wire.Feed
	if w.decode(w.do("GET", "/v1/feeds/"+first, nil), 200, &one); one.Feed != first ||
		one.Dataset != "etth1" || one.Slots < 3 {
		t.Errorf("%+v", one)
	}
	w.decode(w.do("DELETE", "/v1/feeds/"+first, nil), 200, &one)
	for {
		kind, payload := w.readFrame(conn)
		if kind == wire.FrameBatches {
			continue
		}
		header := map[string][]string{"Content-Type": {"application/problem+json"}}
		p := w.decodeProblem(response{409, header, payload})
		if kind != wire.FrameError || p.Type != wire.FeedClosed {
			t.Errorf("a frame of kind %d: %s", kind, payload)
		}
		break
	}
	w.wantProblem(w.do("DELETE", "/v1/feeds/f9", nil), wire.FeedNotFound, `no feed is named "f9"`)
}
