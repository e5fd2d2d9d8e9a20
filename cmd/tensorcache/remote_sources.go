package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/internal/remote"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// urlPattern matches the scheme of a URL. One of one letter would be a drive of Windows.
var urlPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:/`)

// sourceURLs returns the sources if all are URLs that this program can read, and nil if all are
// paths. A file with the name of a URL is a path.
func sourceURLs(verb string, args []string) (urls []string, err error) {
	for _, arg := range args {
		if _, err := os.Lstat(control.ExpandHome(arg)); err == nil || !urlPattern.MatchString(arg) {
			continue
		}
		if !remote.Is(arg) {
			return nil, unknownScheme(verb, arg)
		}
		urls = append(urls, arg)
	}
	if len(urls) > 0 && len(urls) < len(args) {
		return nil, &tensorcache.Error{Type: tensorcache.SourceError,
			Detail: "got URLs and paths together, want only URLs or only paths",
			Hint:   "load some of them, and tensorcache append NAME the others"}
	}
	return urls, nil
}

// packages are what the Python client needs for the URLs of a scheme, besides its extra "remote".
// For others that fsspec knows, it names the package itself.
var packages = map[string]string{"s3": "", "s3a": "", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs",
	"abfs": "adlfs", "abfss": "adlfs", "hf": "huggingface_hub", "ftp": "", "sftp": "", "ssh": "",
	"smb": "", "hdfs": "", "webhdfs": ""}

// unknownScheme returns the error for a URL that this program cannot read.
func unknownScheme(verb, url string) error {
	scheme, _, _ := strings.Cut(strings.ToLower(url), ":")
	e := &tensorcache.Error{Type: tensorcache.SourceError,
		Detail: fmt.Sprintf("got the URL %q, want a path, or a URL of http or https",
			remote.Shown(url))}
	if scheme == "file" {
		e.Hint = "leave file:// out"
		return e
	}
	name, known := packages[scheme]
	if !known {
		e.Hint = "use http or https; Python also takes s3, gs, az, hf and others that fsspec knows"
		return e
	}
	install := "'tensorcache[remote]'"
	if name != "" {
		install = "tensorcache " + name
	}
	e.Hint = fmt.Sprintf(`use Python: cache.%s("name", "%s://…"), after pip install %s`, verb,
		scheme, install)
	return e
}

// sourceBody returns the body of a request for sources. If they are copies of remote files, origins
// has one for each.
type sourceBody func(sources []string, origins origin.Files) any

// loadSources loads or appends files or URLs and prints the result.
func (o *options) loadSources(cmd *cobra.Command, name, route string, args []string,
	body sourceBody) error {
	urls, err := sourceURLs(cmd.Name(), args)
	if err != nil {
		return err
	}
	if urls == nil {
		paths, err := sourcePaths(args)
		if err != nil {
			return err
		}
		return o.loadAndPrint(cmd, name, route, body(paths, nil))
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd.SetContext(ctx)
	err = o.loadURLs(cmd, name, route, urls, body)
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return wire.NewProblem(wire.Cancelled, "interrupted; nothing was loaded").
			WithHint("run it again")
	}
	return err
}

// loadURLs copies the bytes of remote files that a load reads, and loads these.
func (o *options) loadURLs(cmd *cobra.Command, name, route string, urls []string,
	body sourceBody) (err error) {
	dir, err := control.Dir(o.dir)
	if err != nil {
		return err
	}
	c, err := o.connect(jobMode(route))
	if err != nil {
		return err
	}
	defer c.Close()
	// net/http logs the bytes that a server sends after the end of an answer, and has no option
	// against it. The code of this program does not use package log.
	log.SetOutput(io.Discard)
	bar := newProgressBar(cmd.ErrOrStderr())
	defer bar.clear()
	staging, err := remote.Stage(cmd.Context(), dir, urls,
		remote.Options{Progress: bar.fetching(name)})
	if err != nil {
		return err
	}
	defer func() {
		if closing := staging.Close(); err == nil {
			err = closing
		}
	}()
	for {
		answer, err := c.Ranges(cmd.Context(), name, route == appendRoute,
			body(staging.Sources(), staging.Origins()))
		if err != nil {
			return err
		}
		if len(answer.Missing) == 0 {
			break
		}
		if err := staging.Fetch(cmd.Context(), answer.Missing); err != nil {
			return err
		}
	}
	bar.clear()
	return o.loadAndPrint(cmd, name, route, body(staging.Sources(), staging.Origins()))
}
