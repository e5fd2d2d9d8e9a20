package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tensorcache/tensorcache/internal/control"
)

// overTCP is the command tcp STATUS [-token] METHOD PATH, which sends a request over TCP, with the
// token if wanted, and checks the status. PATH may be an address; ADDRESS stands for the one that
// the last command printed.
func overTCP(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	token := args[1] == "-token"
	if token {
		args = args[1:]
	}
	d, err := control.ReadDaemon(cacheDir(ts))
	ts.Check(err)
	path := strings.ReplaceAll(args[2], "ADDRESS", strings.TrimSpace(ts.ReadFile("stdout")))
	if strings.HasPrefix(path, "/") {
		path = "http://" + d.HTTP + path
	}
	if !strings.HasPrefix(path, "http://"+d.HTTP+"/") {
		ts.Fatalf("%s is not served at %q", path, d.HTTP)
	}
	req, err := http.NewRequest(args[1], path, nil)
	ts.Check(err)
	if token {
		secret, err := os.ReadFile(filepath.Join(cacheDir(ts), "token"))
		ts.Check(err)
		req.Header.Set("Authorization", "Bearer "+string(secret))
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request,
			[]*http.Request) error {
			return http.ErrUseLastResponse
		}}
	res, err := client.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	ts.Check(err)
	if res.StatusCode != want {
		ts.Fatalf("%s %s answered %d, want %d: %s", args[1], path, res.StatusCode, want, b)
	}
}
