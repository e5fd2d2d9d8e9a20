package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Control sequences that all terminals know.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the alternate screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	cursorHome  = "\x1b[H"
	clearLine   = "\x1b[K"
	clearRest   = "\x1b[J"
)

// screen is a terminal that shows only this program. Each frame is one write, so that it does not
// flicker.
type screen struct {
	out  *os.File
	in   int
	mode *term.State // earlier mode of in; nil if that is no terminal
}

// newScreen takes over the terminal until restore. It calls quit when q or ^C is pressed.
func newScreen(out, in *os.File, quit func()) (*screen, error) {
	s := &screen{out: out, in: int(in.Fd())}
	if term.IsTerminal(s.in) {
		mode, err := term.MakeRaw(s.in)
		if err != nil {
			return nil, fmt.Errorf("take the terminal: %w", err)
		}
		s.mode = mode
		// a read of a terminal cannot be interrupted, so this goroutine ends with the program
		go waitForQuit(in, quit)
	}
	if _, err := out.WriteString(enterScreen); err != nil {
		return nil, errors.Join(err, s.restore())
	}
	return s, nil
}

func waitForQuit(in io.Reader, quit func()) {
	key := make([]byte, 1)
	for {
		if _, err := in.Read(key); err != nil {
			return
		}
		if strings.ContainsRune("qQ\x03\x04", rune(key[0])) {
			quit()
			return
		}
	}
}

// restore gives the terminal back as it was.
func (s *screen) restore() error {
	_, err := s.out.WriteString(leaveScreen)
	if s.mode != nil {
		err = errors.Join(err, term.Restore(s.in, s.mode))
	}
	return err
}

// draw shows the text that write writes, as far as it fits.
func (s *screen) draw(write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	_, err = s.out.WriteString(renderFrame(text.String(), width, height))
	return err
}

// renderFrame returns a frame for a terminal of this size: the lines, truncated to the width, and
// in the last line how to quit, and how many lines do not fit. All else is cleared.
func renderFrame(text string, width, height int) string {
	var b strings.Builder
	b.WriteString(cursorHome)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	shown := min(len(lines), max(height-1, 0))
	last := "q quits"
	if more := len(lines) - shown; more > 0 {
		last += fmt.Sprintf("; below: %s (tensorcache ls lists all datasets)",
			plural(int64(more), "more line"))
	}
	for _, line := range lines[:shown] {
		// a full line leaves nothing to clear
		if line = truncate(line, width); utf8.RuneCountInString(line) < width {
			line += clearLine
		}
		b.WriteString(line + "\r\n")
	}
	b.WriteString(clearRest + truncate(last, width))
	return b.String()
}

// truncate returns the first characters of a line.
func truncate(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width])
}
