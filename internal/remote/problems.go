package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	neturl "net/url"
	"strings"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// problem returns an error that names the URL.
func (u *url) problem(format string, args ...any) *wire.Problem {
	return wire.NewProblem(wire.SourceError, "%s: %s", u.public, fmt.Sprintf(format, args...))
}

// retryError is an error after which the same request may succeed.
type retryError struct{ error }

func (e retryError) Unwrap() error { return e.error }

// changed returns the error for an answer that is of another version of the file.
func (u *url) changed(what, before, now string) error {
	return u.problem("changed while it was read: %s was %s and is %s", what, before, now).
		WithHint("load it again when nobody writes it")
}

// statusError returns the error for a status that is no success.
func (f *file) statusError(status int) error {
	p := f.problem("the server answered %d %s", status, http.StatusText(status))
	switch {
	case status == http.StatusUnauthorized && f.user != nil:
		return p.WithHint("check user and password in the URL")
	case status == http.StatusUnauthorized:
		return p.WithHint("put user and password into the URL, as https://user:password@host/file; " +
			"only its host receives them")
	case status == http.StatusForbidden:
		return p.WithHint("check who may read it; a signed URL may have expired")
	case status == http.StatusNotFound && strings.ContainsAny(f.request.Path, "*["):
		return p.WithHint("name each file, because HTTP has no patterns")
	case status == http.StatusNotFound, status == http.StatusGone:
		return p.WithHint("check the URL")
	case status == http.StatusPreconditionFailed,
		status == http.StatusRequestedRangeNotSatisfiable:
		return f.problem("changed while it was read: the server answered %d %s", status,
			http.StatusText(status)).WithHint("load it again when nobody writes it")
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		return retryError{p.WithHint("the server refused %d requests; try again later", maxTries)}
	}
	return p.WithHint("open the URL in a browser, or download the file and load that")
}

// Errors that end a request.
var (
	errSilent    = errors.New("no byte for too long")
	errRedirects = errors.New("redirects more than 10 times")
	errDowngrade = errors.New("redirects from https to http")
	errScheme    = errors.New("redirects to another scheme than http and https")
)

// requestError returns the error of a request without an answer, or of an answer that ended early.
// It quotes nothing of the error that may have the query.
func (f *file) requestError(ctx context.Context, err error, s *Staging) error {
	var asked *neturl.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	var (
		dns       *net.DNSError
		op        *net.OpError
		timeout   net.Error
		unknown   x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		alert     tls.AlertError
		recordErr tls.RecordHeaderError
	)
	const check = "check the host in the URL, and the network"
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSilent):
		return f.problem("the server sent nothing for %s", s.options.Silence).
			WithHint("check the network, and try again")
	case cause != nil:
		return cause
	case errors.Is(err, errRedirects), errors.Is(err, errDowngrade), errors.Is(err, errScheme):
		return f.problem("the server %s", err).WithHint("download the file, and load that")
	case errors.As(err, &dns):
		return f.problem("no address was found for the host").WithHint(check)
	case errors.As(err, &unknown), errors.As(err, &hostname), errors.As(err, &invalid):
		return f.problem("the certificate of the server is refused: %s", certificateError(err)).
			WithHint("on Linux, SSL_CERT_FILE names a file of certificates to trust")
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &recordErr):
		return f.problem("the server does not speak TLS").
			WithHint("use http://, if you trust the network")
	case errors.As(err, &alert):
		return f.problem("TLS failed: %s", alert.Error()).WithHint(check)
	case errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect"):
		return retryError{f.problem("cannot connect: %s", lastError(op)).WithHint(check)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op),
		errors.Is(err, unix.ECONNRESET), errors.Is(err, net.ErrClosed):
		return retryError{f.cutOff()}
	case errors.As(err, &timeout) && timeout.Timeout():
		return retryError{f.problem("connecting took too long").WithHint(check)}
	}
	return retryError{f.problem("the server does not answer as HTTP says").WithHint(check)}
}

// cutOff returns the error for an answer that ended early.
func (f *file) cutOff() *wire.Problem {
	return f.problem("the server cut the connection off %d times", maxTries).
		WithHint("check the network, and try again")
}

// certificateError returns the error of a certificate without what was around it.
func certificateError(err error) string {
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		return "its authority is unknown"
	}
	var hostname x509.HostnameError
	if errors.As(err, &hostname) {
		return "it is for another host"
	}
	return "it is invalid or has expired"
}

// lastError returns the text of the innermost error.
func lastError(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// free returns the free bytes in a directory.
func free(dir string) (int64, error) {
	n, _, err := machine.Disk(dir)
	return n, err
}

// checkSpace returns an error if the directory has not as many free bytes.
func (s *Staging) checkSpace(need int64) error {
	have, err := s.options.Free(s.dir)
	if err != nil || need <= have {
		return err
	}
	return wire.NewProblem(wire.NoSpace,
		"the copy of the remote files needs %s in %s, and %s are free",
		humanize.IBytes(uint64(need)), s.dir, humanize.IBytes(uint64(max(have, 0)))).
		WithHint("free some space, load fewer columns, or move the cache directory with `dir` or " +
			"TENSORCACHE_DIR")
}

// directoryError returns the error of making a directory below another one.
func directoryError(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return wire.NewProblem(wire.Forbidden, "no directory can be made in %s: permission denied",
			dir).WithHint("only the user of the daemon can load remote files: download them, and " +
			"load the copies")
	case isFull(err):
		return wire.NewProblem(wire.NoSpace, "no directory can be made in %s: %s", dir,
			lastError(err)).WithHint(hintSpace)
	}
	return fmt.Errorf("make a directory in %s: %w", dir, withoutPath(err))
}

// diskError returns the error of writing a copy.
func (s *Staging) diskError(err error, need int64) error {
	if !isFull(err) {
		return fmt.Errorf("write a copy of the remote files in %s: %w", s.dir, withoutPath(err))
	}
	have, _ := s.options.Free(s.dir)
	return wire.NewProblem(wire.NoSpace, "writing %s of the remote files in %s: %s; %s are free",
		humanize.IBytes(uint64(max(need, 0))), s.dir, lastError(err),
		humanize.IBytes(uint64(max(have, 0)))).WithHint(hintSpace)
}

const hintSpace = "free some space, or move the cache directory with `dir` or TENSORCACHE_DIR"

// isFull reports whether an error says that the disk has no space.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// withoutPath returns an error of the file system without the operation and the path.
func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
