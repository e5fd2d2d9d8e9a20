package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Errors of connecting to a daemon and of its requests.
var (
	// ErrNoDaemon is returned when no daemon runs and none was or could be started.
	ErrNoDaemon = errors.New("no daemon")
	// ErrGone is returned when the daemon ended before it answered.
	ErrGone = errors.New("the daemon is gone")
	// ErrProtocol is returned when the daemon speaks no version of the protocol that this program speaks.
	ErrProtocol = errors.New("the daemon speaks another protocol")
)

// Client sends requests to one daemon. It is safe for concurrent use.
type Client struct {
	Daemon wire.Daemon
	http   *http.Client
}

// newClient checks that the daemon answers and speaks a version of the protocol that this program
// speaks.
func newClient(ctx context.Context, d wire.Daemon) (*Client, error) {
	dialer := net.Dialer{}
	c := &Client{Daemon: d, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", d.Control)
		},
	}}}
	var h wire.Health
	err := c.Get(ctx, "/v1/health", &h)
	// The version of a daemon that has ended does not matter.
	_, spoken := d.Common(wire.OwnProtocols)
	if !spoken && !errors.Is(err, ErrGone) {
		err = fmt.Errorf(
			"%w: the daemon (tensorcache %s, pid %d) speaks %s, this program %s; "+
				"end it with the tensorcache that started it, or kill %d",
			ErrProtocol, d.Version, d.PID, d.Describe(), wire.OwnProtocols.Describe(), d.PID)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get requests a resource and decodes it into a value.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, nil, into)
}

// Delete deletes a resource and decodes the answer.
func (c *Client) Delete(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodDelete, path, nil, into)
}

// Post sends a body as JSON and decodes the answer. If into is a *[]byte, it gets the answer's
// bytes.
func (c *Client) Post(ctx context.Context, path string, body, into any) error {
	return c.do(ctx, http.MethodPost, path, body, into)
}

// Put is Post with the method PUT, for requests that may be repeated.
func (c *Client) Put(ctx context.Context, path string, body, into any) error {
	return c.do(ctx, http.MethodPut, path, body, into)
}

// Ranges asks which bytes of remote files that are not staged a load or an append reads. Body is
// that of the load or the append.
func (c *Client) Ranges(ctx context.Context, dataset string, isAppend bool,
	body any) (answer wire.MissingRanges, err error) {
	route := "/ranges"
	if isAppend {
		route = "/ranges?of=append"
	}
	err = c.Post(ctx, Dataset(dataset, route), body, &answer)
	return answer, err
}

// Dataset returns the path of a dataset, followed by rest.
func Dataset(name, rest string) string { return "/v1/datasets/" + url.PathEscape(name) + rest }

func (c *Client) do(ctx context.Context, method, path string, body, into any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return err
		}
		// The daemon would refuse it while net/http still sends the body, which net/http reports as
		// a closed connection.
		if len(payload) > wire.MaxRequest {
			return wire.NewProblem(wire.TooLarge, "the body is over %d bytes", wire.MaxRequest)
		}
	}
	res, b, err := c.ask(ctx, method, path, payload)
	// The daemon has not processed the request: one of the two processes was paused meanwhile.
	if err == nil && res.StatusCode == http.StatusRequestTimeout {
		res, b, err = c.ask(ctx, method, path, payload)
	}
	if err != nil {
		return err
	}
	if res.StatusCode >= 400 {
		var p wire.Problem
		if err := json.Unmarshal(b, &p); err != nil || p.Type == "" {
			return fmt.Errorf("the daemon answered %s to %s %s", res.Status, method, path)
		}
		return &p
	}
	if raw, ok := into.(*[]byte); ok {
		*raw = b
		return nil
	}
	return json.Unmarshal(b, into)
}

// ask sends a request, without a body if payload is nil, and reads the whole answer.
func (c *Client) ask(ctx context.Context, method, path string, payload []byte) (*http.Response,
	[]byte, error) {
	var body io.Reader
	if payload != nil {
		body = bytes.NewReader(payload)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, body)
	if err != nil {
		return nil, nil, err
	}
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, nil, c.goneError(ctx, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, nil, c.goneError(ctx, err)
	}
	return res, b, nil
}

// goneError returns the error of a request that got no answer. It leaves out the URL.
func (c *Client) goneError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if asked := (*url.Error)(nil); errors.As(err, &asked) {
		err = asked.Err
	}
	return fmt.Errorf("%w (pid %d): %w", ErrGone, c.Daemon.PID, err)
}
