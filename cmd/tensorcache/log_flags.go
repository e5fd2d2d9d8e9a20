package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/pflag"
)

// logOptions say where and how the daemon logs.
type logOptions struct {
	file, format, level string
}

func (o *logOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.file, "log", "", "append the log to this `file` instead of standard error")
	f.StringVar(&o.format, "log-format", "text", "format of the log: text or json")
	f.StringVar(&o.level, "log-level", "info",
		"least level of what is logged: debug, info, warn or error")
}

// check refuses unknown formats and levels.
func (o *logOptions) check() error {
	if o.format != "text" && o.format != "json" {
		return fmt.Errorf("--log-format: got %q, want text or json", o.format)
	}
	switch o.level {
	case "debug", "info", "warn", "error":
		return nil
	}
	return fmt.Errorf("--log-level: got %q, want debug, info, warn or error", o.level)
}

// open returns the logger, which writes to the file if there is one. The caller must call done
// after the last message.
func (o *logOptions) open(standard io.Writer) (log *slog.Logger, done func() error, err error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.level)); err != nil {
		return nil, nil, err
	}
	w, done := standard, func() error { return nil }
	if o.file != "" {
		f, err := os.OpenFile(o.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("open the log: %w", err)
		}
		w, done = f, f.Close
	}
	how := &slog.HandlerOptions{Level: level}
	if o.format == "json" {
		return slog.New(slog.NewJSONHandler(w, how)), done, nil
	}
	return slog.New(slog.NewTextHandler(w, how)), done, nil
}
