package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// eventClient reads a stream of events.
type eventClient struct {
	*world
	events     chan receivedEvent
	disconnect func()
}

type receivedEvent struct {
	name string
	data []byte
}

func (w *world) listen(path string) *eventClient {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", "http://localhost"+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	res, err := w.client.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" ||
		res.Header.Get("Cache-Control") != "no-store" {
		w.Fatalf("%s: %v", res.Status, res.Header)
	}
	l := &eventClient{world: w, events: make(chan receivedEvent, 1000), disconnect: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(l.events)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<24)
		var e receivedEvent
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.name = value
			case "data":
				e.data = []byte(value)
			case "":
				if e.name != "" {
					l.events <- e
				}
				e = receivedEvent{}
			}
		}
	}()
	w.Cleanup(func() { cancel(); <-done })
	return l
}

// next returns the next event, whose data must match the schema of its name. It returns false at
// the end of the stream.
func (l *eventClient) next() (e receivedEvent, ok bool) {
	l.Helper()
	select {
	case e, ok = <-l.events:
	case <-time.After(testTimeout):
		l.Fatal("no event came")
	}
	if schema := map[string]string{"job": "Job", "jobs": "Jobs", "feeds": "Feeds",
		"datasets": "Datasets", "machine": "Machine"}[e.name]; ok {
		if err := checkSchema("#/components/schemas/"+schema, e.data); err != nil {
			l.Errorf("%s: %v", e.name, err)
		}
	}
	return e, ok
}

// waitFor reads events until one with this name and matching data.
func (l *eventClient) waitFor(name string, is func(data []byte) bool) {
	l.Helper()
	for {
		e, ok := l.next()
		if !ok {
			l.Fatal("the stream ended")
		}
		if e.name == name && is(e.data) {
			return
		}
	}
}

func TestEventsHaveTheChangedBodies(t *testing.T) {
	w := newWorld(t)
	l := w.listen("/v1/events")
	for _, name := range []string{"jobs", "feeds", "datasets"} {
		if e, ok := l.next(); !ok || e.name != name ||
			!strings.Contains(string(e.data), `"`+name+`":[]`) {
			t.Fatalf("%s: %s", e.name, e.data)
		}
	}
	l.waitFor("machine",
		func(b []byte) bool { return strings.Contains(string(b), `"descriptors":{"open":`) })
	w.loadETTh1()
	l.waitFor("jobs", func(b []byte) bool { return strings.Contains(string(b), `"state":"done"`) })
	l.waitFor("datasets",
		func(b []byte) bool { return strings.Contains(string(b), `"dataset":"etth1"`) })
	id, conn := w.attachTrainer("etth1")
	l.waitFor("feeds",
		func(b []byte) bool { return strings.Contains(string(b), `"feed":"`+id+`"`) })
	conn.Close()
	l.waitFor("feeds", func(b []byte) bool { return strings.Contains(string(b), `"feeds":[]`) })
	w.do("DELETE", "/v1/datasets/etth1", nil)
	l.waitFor("datasets",
		func(b []byte) bool { return strings.Contains(string(b), `"datasets":[]`) })
}

// TestAJobsEventsEndWithIt reads the events of a job while it runs and after it has ended.
func TestAJobsEventsEndWithIt(t *testing.T) {
	w := newWorldOfCores(t, 1)
	w.Setenv(blockedVariable, blockedReportsCores)
	var job wire.Job
	w.decode(w.do("POST", "/v1/datasets/d/load",
		map[string]any{"sources": []string{w.source("a.csv", "a\n1\n")}}), 202, &job)
	l := w.listen("/v1/jobs/" + job.Job + "/events")
	l.waitFor("job", func(b []byte) bool { return strings.Contains(string(b), `"rows":1,`) })
	w.do("DELETE", "/v1/jobs/"+job.Job, nil)
	l.waitFor("job",
		func(b []byte) bool { return strings.Contains(string(b), `"state":"cancelled"`) })
	if e, ok := l.next(); ok {
		t.Errorf("after its end: %s", e.data)
	}
	ended := w.listen("/v1/jobs/" + job.Job + "/events")
	ended.waitFor("job", func(b []byte) bool {
		return json.Unmarshal(b, &job) == nil &&
			job.Ended()
	})
	if e, ok := ended.next(); ok {
		t.Errorf("after its end: %s", e.data)
	}
	w.wantProblem(w.do("GET", "/v1/jobs/j9/events", nil), wire.JobNotFound, "")
}

// TestEventsAreMadeOnlyWhileThereAreListeners checks that the goroutine of the events ends after
// the last client, which may leave with or without events in between.
func TestEventsAreMadeOnlyWhileThereAreListeners(t *testing.T) {
	w := newWorld(t)
	l := w.listen("/v1/events")
	if _, ok := l.next(); !ok || w.server.activeStreams.Load() != 1 || !w.isWatching() {
		t.Fatal("nobody looks")
	}
	l.disconnect()
	end := time.Now().Add(testTimeout)
	for tick := time.NewTicker(5 * time.Millisecond); w.server.activeStreams.Load() != 0 ||
		w.isWatching(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%d streams, looking %t", w.server.activeStreams.Load(), w.isWatching())
		}
	}
	if _, ok := w.listen("/v1/events").next(); !ok || !w.isWatching() {
		t.Error("nobody looks again")
	}
}

func (w *world) isWatching() bool {
	w.server.events.mu.Lock()
	defer w.server.events.mu.Unlock()
	return w.server.events.running
}

// TestAListenerThatReadsNothingDoesNotDelayOthers has a client with a full connection. Other
// clients get their events, and the daemon can stop.
func TestAListenerThatReadsNothingDoesNotDelayOthers(t *testing.T) {
	w := newWorld(t)
	conn, err := w.client.Transport.(*http.Transport).DialContext(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(
		[]byte("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	l := w.listen("/v1/events")
	l.next()
	big := make([]byte, 1<<20)
	for i := range big {
		big[i] = ' '
	}
	for range 20 { // more than a socket buffers
		w.server.events.broadcast(topicJobs,
			append([]byte(`{"jobs": [], "next": null`), append(big, '}')...))
	}
	w.loadETTh1()
	l.waitFor("datasets",
		func(b []byte) bool { return strings.Contains(string(b), `"dataset":"etth1"`) })
}

func TestTheNumberOfStreamsIsLimited(t *testing.T) {
	w := newWorld(t)
	w.server.activeStreams.Add(maxStreams)
	a := w.do("GET", "/v1/events", nil)
	w.wantProblem(a, wire.Busy, "64 event streams are open, no more are served at once")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.server.activeStreams.Add(-1)
	w.listen("/v1/events").next()
	w.server.activeStreams.Add(1 - maxStreams)
	if a := w.do("HEAD", "/v1/events", nil); a.status != 200 ||
		a.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%d %v", a.status, a.header)
	}
	w.wantProblem(w.do("GET", "/v1/events?"+url.QueryEscape("topics")+"=jobs", nil),
		wire.InvalidRequest, `there is no parameter "topics" here, want none`)
}
