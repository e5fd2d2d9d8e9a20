package api

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

var eventRoutes = []route{
	{"GET", "/v1/events", noArg((*Server).allEvents)},
	{"GET", "/v1/jobs/{id}/events", oneArg((*Server).jobEvents)},
}

// eventTopic is something that changes. Its events have the body of the GET request of that name.
type eventTopic struct {
	name string
	body func(*Server) (any, error)
}

// Topics of GET /v1/events, as indexes into eventTopics.
const (
	topicJobs = iota
	topicFeeds
	topicDatasets
	topicMachine
)

// firstPage is the page that events have.
var firstPage = pageRequest{limit: maxPageSize}

var eventTopics = []eventTopic{
	topicJobs: {"jobs",
		func(s *Server) (any, error) { return jobPage(firstPage, s.Jobs.List()), nil }},
	topicFeeds: {"feeds", func(s *Server) (any, error) { return s.feedPage(firstPage), nil }},
	topicDatasets: {"datasets",
		func(s *Server) (any, error) { return s.datasetPage(firstPage), nil }},
	topicMachine: {"machine", func(s *Server) (any, error) { return s.machineState() }},
}

// A topic's body is made every topicInterval, or after minEventGap if the topic is known to have
// changed. The interval is at least intervalFactor times as long as making the body takes.
const (
	topicInterval  = time.Second
	minEventGap    = 100 * time.Millisecond
	intervalFactor = 50
)

// events sends changes to all listeners. One goroutine makes the bodies for all of them. It ends
// when there are no listeners.
type events struct {
	server *Server
	wake   chan struct{}

	mu            sync.Mutex
	listeners     map[*listener]bool
	changedTopics map[int]bool // topics known to have changed
	running       bool
	closed        bool
	runners       sync.WaitGroup
}

func newEvents(s *Server) *events {
	return &events{server: s, wake: make(chan struct{}, 1), listeners: map[*listener]bool{},
		changedTopics: map[int]bool{}}
}

// listener is one stream of events. Only the newest body of each topic is pending, so that a slow
// client needs little memory and does not delay others. events.mu guards it.
type listener struct {
	events  *events
	isNew   bool // no event has been sent to it
	pending [][]byte
	signal  chan struct{}
}

func (s *Server) allEvents(ctx *fasthttp.RequestCtx) error {
	return s.replyStream(ctx, func() eventSource { return s.events.listen() })
}

func (e *events) listen() *listener {
	l := &listener{events: e, isNew: true, pending: make([][]byte, len(eventTopics)),
		signal: make(chan struct{}, 1)}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.listeners[l] = true
	if !e.running && !e.closed {
		e.running = true
		e.runners.Go(e.run)
	}
	e.wakeRun()
	return l
}

// close waits until the goroutine has ended. The server is closing.
func (e *events) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.runners.Wait()
}

func (l *listener) next() ([]byte, bool) {
	l.events.mu.Lock()
	defer l.events.mu.Unlock()
	var b []byte
	for i, body := range l.pending {
		if body != nil {
			b, l.pending[i] = appendEvent(b, eventTopics[i].name, body), nil
		}
	}
	return b, false
}

func (l *listener) ready() <-chan struct{} { return l.signal }

func (l *listener) close() {
	e := l.events
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.listeners, l)
	e.wakeRun()
}

// markChanged makes the goroutine send a topic soon.
func (e *events) markChanged(topic int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running {
		e.changedTopics[topic] = true
		e.wakeRun()
	}
}

func (e *events) wakeRun() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// run sends topics until there are no listeners or the server is closing.
func (e *events) run() {
	lastBodies, dueTimes := make([][]byte, len(eventTopics)), make([]time.Time, len(eventTopics))
	endedJobs := -1
	for {
		jobs, feeds := e.server.Jobs.Changes(), e.server.Feeds.Changes()
		changed, listening := e.takeChanged()
		if !listening {
			return
		}
		if n := e.server.Jobs.Ended(); n != endedJobs { // each may have made a generation
			endedJobs, changed[topicDatasets] = n, true
		}
		next := time.Now().Add(topicInterval)
		for i := range eventTopics {
			if now := time.Now(); changed[i] || !now.Before(dueTimes[i]) {
				body := e.topicBody(i)
				dueTimes[i] = time.Now().Add(max(topicInterval, intervalFactor*time.Since(now)))
				if body != nil && !bytes.Equal(body, lastBodies[i]) {
					lastBodies[i] = body
					e.broadcast(i, body)
				}
			}
			if dueTimes[i].Before(next) {
				next = dueTimes[i]
			}
		}
		e.sendFirst(lastBodies)
		if !e.wait(minEventGap, nil, nil, nil) {
			return
		}
		if !e.wait(time.Until(next), jobs, feeds, e.wake) {
			return
		}
		if isClosed(jobs) {
			e.markChanged(topicJobs)
		}
		if isClosed(feeds) {
			e.markChanged(topicFeeds)
		}
	}
}

// wait waits for one of the channels or the timeout. It returns false if the server is closing.
func (e *events) wait(timeout time.Duration, jobs, feeds, wake <-chan struct{}) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-e.server.closing:
		return false
	case <-timer.C:
	case <-jobs:
	case <-feeds:
	case <-wake:
	}
	return true
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// takeChanged returns and clears the changed topics. If there are no listeners, run must return.
func (e *events) takeChanged() (changed map[int]bool, listening bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	changed, e.changedTopics = e.changedTopics, map[int]bool{}
	e.running = len(e.listeners) > 0
	return changed, e.running
}

// topicBody returns the body of a topic, or nil after an error or a panic, which it logs.
func (e *events) topicBody(topic int) (body []byte) {
	defer func() {
		if p := recover(); p != nil {
			_ = e.server.panicError("events", eventTopics[topic].name, p)
			body = nil
		}
	}()
	state, err := eventTopics[topic].body(e.server)
	if err == nil {
		body, err = json.Marshal(state)
	}
	if err != nil {
		e.server.Log.Error("make an event", "topic", eventTopics[topic].name, "error", err)
		return nil
	}
	return body
}

// broadcast gives a body to all listeners that are not new.
func (e *events) broadcast(topic int, body []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for l := range e.listeners {
		if !l.isNew {
			l.put(topic, body)
		}
	}
}

// sendFirst gives the bodies of all topics to new listeners.
func (e *events) sendFirst(bodies [][]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for l := range e.listeners {
		if l.isNew {
			l.isNew = false
			for i, body := range bodies {
				l.put(i, body)
			}
		}
	}
}

// put makes a body pending. The caller holds mu.
func (l *listener) put(topic int, body []byte) {
	l.pending[topic] = body
	select {
	case l.signal <- struct{}{}:
	default:
	}
}
