package feed

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestDescriptorsThatAClientSendsAreDropped(t *testing.T) {
	const rights, frames = 200, 50 // a message carries at most 253
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	null := must(os.Open(os.DevNull))(t)
	defer null.Close()
	oob := unix.UnixRights(slices.Repeat([]int{int(null.Fd())}, rights)...)
	flood := func(c client, kind uint32, payload []byte) {
		t.Helper()
		frame := append(le(uint32(len(payload)), kind), payload...)
		if _, _, err := c.conn.WriteMsgUnix(frame, oob, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.attach(t, request("d")).close() // the store has opened what it keeps open
	until(t, "gone", func() bool { return w.server.Connections() == 0 })
	before := have(t).descriptors
	for _, r := range []map[string]any{request("d"),
		{"protocol": 1, "request": "open", "dataset": "d"}, {"protocol": 1, "request": "fetch"}} {
		t.Run(r["request"].(string), func(t *testing.T) {
			c := must(dial(w.path))(t)
			flood(c, wire.FrameRequest, asJSON(r))
			kind, _, fds, err := c.receive()
			if closeAll(fds); r["request"] != "fetch" && (err != nil || kind != wire.FrameReply) {
				t.Errorf("got %d, %v, want a reply", kind, err)
			}
			if r["request"] == "feed" {
				for range frames {
					flood(c, wire.FrameMeter, make([]byte, wire.MeterSize))
				}
				flood(c, wire.FrameDone, nil)
				for err == nil {
					_, _, fds, err = c.receive()
					closeAll(fds)
				}
				if !errors.Is(err, io.EOF) {
					t.Errorf("got %v, want the end", err)
				}
			}
			c.conn.Close()
			until(t, "gone", func() bool { return w.server.Connections() == 0 })
			until(t, "dropped", func() bool { return have(t).descriptors <= before })
		})
	}
}
