package feed

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// runTrainer is a trainer process. Its arguments say whether it attaches a feed or opens a lease.
// It starts a child that inherits the socket, and waits until it is killed.
func runTrainer() error {
	path, what := os.Args[1], os.Args[2]
	var conn interface{ File() (*os.File, error) }
	if what == "feed" {
		tr, err := attachTo(path, request("d"))
		if err != nil {
			return err
		}
		conn = tr.conn
	} else {
		c, err := dial(path)
		if err != nil {
			return err
		}
		conn = c.conn
		var reply map[string]any
		if what == "open" {
			if _, err := c.ask(map[string]any{"protocol": 1, "request": "open", "dataset": "d"},
				&reply); err != nil {
				return err
			}
		} else if err := c.send(1,
			asJSON(map[string]any{"protocol": 1, "request": "put", "dataset": "d"})); err != nil {
			return err
		}
	}
	socket, err := conn.File()
	if err != nil {
		return err
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), roleVariable+"=holder")
	child.Stdin, child.Stdout, child.ExtraFiles = os.Stdin, os.Stdout, []*os.File{socket}
	if err := child.Start(); err != nil {
		return err
	}
	select {}
}

// runSocketHolder is a process that has inherited a trainer's socket. It ends with its standard
// input.
func runSocketHolder() error {
	fmt.Println("holding")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// forkedTrainer is a trainer process whose child also has the socket.
type forkedTrainer struct {
	*exec.Cmd
	child io.Closer // ends the child
}

func startTrainer(t *testing.T, path, what string) *forkedTrainer {
	t.Helper()
	cmd := exec.Command(os.Args[0], path, what)
	cmd.Env = append(os.Environ(), roleVariable+"=trainer")
	cmd.Stderr = os.Stderr
	in := must(cmd.StdinPipe())(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	var output string
	if _, err := fmt.Fscanln(r, &output); err != nil || output != "holding" {
		t.Fatalf("the trainer's child said %q, %v", output, err)
	}
	return &forkedTrainer{cmd, in}
}

// kill sends SIGKILL to the trainer, not to its child.
func (f *forkedTrainer) kill(t *testing.T) {
	t.Helper()
	if err := f.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := f.Process.Release(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
}
