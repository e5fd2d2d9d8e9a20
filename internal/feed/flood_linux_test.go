package feed

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestFileDescriptorsFromAClientAreClosed(t *testing.T) {
	const rights, frames = 200, 50 // one message has at most 253 descriptors
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	null := must(os.Open(os.DevNull))(t)
	defer null.Close()
	oob := unix.UnixRights(slices.Repeat([]int{int(null.Fd())}, rights)...)
	flood := func(c client, kind uint32, payload []byte) {
		t.Helper()
		frame := append(uint32Bytes(uint32(len(payload)), kind), payload...)
		if _, _, err := c.conn.WriteMsgUnix(frame, oob, nil); err != nil {
			t.Fatal(err)
		}
	}
	env.attach(t, request("d")).close() // so that the store has opened its files
	testwait.Until(t, "gone", func() bool { return env.server.Connections() == 0 })
	before := measureResources(t).descriptors
	for _, r := range []map[string]any{request("d"),
		{"protocol": 1, "request": "open", "dataset": "d"}, {"protocol": 1, "request": "fetch"}} {
		t.Run(r["request"].(string), func(t *testing.T) {
			c := must(dial(env.path))(t)
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
			testwait.Until(t, "gone", func() bool { return env.server.Connections() == 0 })
			testwait.Until(t, "dropped",
				func() bool { return measureResources(t).descriptors <= before })
		})
	}
}
