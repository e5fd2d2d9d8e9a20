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

// Control sequences of every terminal of the last forty years.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the alternate screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	cursorHome  = "\x1b[H"
	clearLine   = "\x1b[K"
	clearRest   = "\x1b[J"
)

// screen is a terminal of which a program has the whole. Each picture is one write over the one
// before, so that nothing flickers.
type screen struct {
	out  *os.File
	in   int
	mode *term.State // of in, before; nil where that is no terminal
}

// newScreen takes the terminal over until end. quit is called when q or ^C is pressed.
func newScreen(out, in *os.File, quit func()) (*screen, error) {
	s := &screen{out: out, in: int(in.Fd())}
	if term.IsTerminal(s.in) {
		mode, err := term.MakeRaw(s.in)
		if err != nil {
			return nil, fmt.Errorf("take the terminal: %w", err)
		}
		s.mode = mode
		// a read of a terminal cannot be ended: it lasts as long as the program
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

// end gives the terminal back as it was.
func (s *screen) restore() error {
	_, err := s.out.WriteString(leaveScreen)
	if s.mode != nil {
		err = errors.Join(err, term.Restore(s.in, s.mode))
	}
	return err
}

// draw shows what write writes, as much as there is room for.
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

// picture is text as it is written on a screen of that size: from the top, lines cut off at the
// edge, the rest cleared, and what to press in the last line.
func renderFrame(text string, width, height int) string {
	var b strings.Builder
	b.WriteString(cursorHome)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for _, line := range lines[:min(len(lines), max(height-1, 0))] {
		// behind the last column there is nothing to clear
		if line = truncate(line, width); utf8.RuneCountInString(line) < width {
			line += clearLine
		}
		b.WriteString(line + "\r\n")
	}
	b.WriteString(clearRest + truncate("q quits", width))
	return b.String()
}

// cut takes the first runes of a line.
func truncate(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width])
}
