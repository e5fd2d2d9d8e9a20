package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// slowBody is an answer whose bytes come one by one, after a pause each.
type slowBody struct {
	data  []byte
	pause time.Duration
}

func (b *slowBody) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: b, Request: r}, nil
}

func (b *slowBody) Read(p []byte) (int, error) {
	time.Sleep(b.pause)
	if len(b.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:1], b.data)
	b.data = b.data[n:]
	return n, nil
}

func (b *slowBody) Close() error { return nil }

// TestSlowServerIsRead checks that the time between bytes is limited, and not that of a request.
// synctest's clock stands still while anything runs.
func TestSlowServerIsRead(t *testing.T) {
	const silence = 30 * time.Second
	for _, c := range []struct {
		pause time.Duration
		want  error
	}{{silence - 1, nil}, {silence + 1, errSilent}} {
		synctest.Test(t, func(t *testing.T) {
			want := []byte("0123456789")
			client := newClient()
			if real := client.Transport.(*http.Transport); real.ResponseHeaderTimeout != 0 {
				t.Error("the client limits the time of an answer")
			}
			client.Transport = &slowBody{want, c.pause}
			s := &Staging{options: Options{Silence: silence}, client: client}
			u, err := parse("http://localhost/x")
			if err != nil {
				t.Fatal(err)
			}
			a, err := s.send(t.Context(), http.MethodGet, &file{url: u}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer a.close()
			got, err := io.ReadAll(a.Body)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("got %q, %v", got, err)
			}
			if err := context.Cause(a.ctx); err != c.want {
				t.Errorf("bytes come after %s: got %v, want %v", c.pause, err, c.want)
			}
		})
	}
}
