package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// optionInText matches an option in a message of the daemon: `sort=true`, with a JSON value, or
// `columns` alone.
var optionInText = regexp.MustCompile("`([a-z][a-z0-9_]*)(?:=([^`]+))?`")

// longName matches the name of a field of a spec or of an option of more than one word.
var longName = regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b`)

// plainValue matches a value that a shell takes as it is written.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9_.,:/+=-]+$`)

// flagNames are the names of flags by the names that the daemon has for them.
type flagNames map[string]string

// flagsFor returns the flags of a verb, and those of other verbs for names that it does not have.
func flagsFor(cmd *cobra.Command) flagNames {
	names := flagNames{}
	cmd.Root().PersistentFlags().VisitAll(names.add)
	for _, other := range cmd.Root().Commands() {
		other.Flags().VisitAll(names.add)
	}
	cmd.Flags().VisitAll(names.add)
	return names
}

// add adds a flag. The flags of a split have the prefix that its fields lack.
func (f flagNames) add(flag *pflag.Flag) {
	name := strings.ReplaceAll(flag.Name, "-", "_")
	f[name] = "--" + flag.Name
	if part, ok := strings.CutPrefix(name, "split_"); ok && f[part] == "" {
		f[part] = "--" + flag.Name
	}
}

// inMessage returns a message of the daemon with flags in place of its options. field is the field
// at fault, with which the message may begin.
func (f flagNames) inMessage(text, field string) string {
	if rest, ok := strings.CutPrefix(text, field+":"); ok && f[field] != "" {
		text = f[field] + ":" + rest
	}
	text, names, _ := strings.Cut(inHint(text), "; near: ")
	if names != "" {
		names = "; near: " + names
	}
	parts := strings.Split(text, `"`) // every second one is quoted
	for i := 0; i < len(parts); i += 2 {
		parts[i] = longName.ReplaceAllStringFunc(parts[i], func(name string) string {
			if flag := f[name]; flag != "" {
				return flag
			}
			return name
		})
	}
	return strings.Join(parts, `"`) + names
}

// inHint returns a hint of the daemon with flags in place of its options.
func inHint(text string) string {
	return optionInText.ReplaceAllStringFunc(text, func(option string) string {
		m := optionInText.FindStringSubmatch(option)
		return flagWithValue("--"+flagName(m[1]), m[2])
	})
}

// flagHint returns the usage of the flag for a field of a request, or "".
func flagHint(cmd *cobra.Command, field string) string {
	names := flagNames{}
	cmd.Flags().VisitAll(names.add)
	f := cmd.Flags().Lookup(strings.TrimPrefix(names[field], "--"))
	if f == nil {
		return ""
	}
	value, usage := pflag.UnquoteUsage(f)
	return strings.TrimSpace("--"+f.Name+" "+value) + ": " + usage
}

// flagWithValue returns a flag with a value that is given as JSON, or alone without one.
func flagWithValue(flag, value string) string {
	var v any
	if value == "" || json.Unmarshal([]byte(value), &v) != nil || v == true {
		return flag
	}
	byColumn, ok := v.(map[string]any)
	if !ok {
		return flag + " " + inShell(flagValue(v))
	}
	var flags []string
	for column, v := range byColumn {
		flags = append(flags, flag+" "+inShell(column+"="+flagValue(v)))
	}
	return strings.Join(flags, " ")
}

// flagValue returns a JSON value as flags have it: bounds as low:high, and names as a,b.
func flagValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		if len(v) == 0 {
			return ""
		}
		var parts []string
		for _, part := range v {
			parts = append(parts, flagValue(part))
		}
		if _, isText := v[0].(string); !isText {
			return strings.Join(parts, ":")
		}
		var names []string
		if text := strings.Join(parts, ","); (namesFlag{&names}).Set(text) == nil && slices.Equal(names, parts) {
			return text
		}
		list, _ := json.Marshal(v) // never fails for texts
		return string(list)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// inShell returns a value quoted for a shell if it needs that.
func inShell(value string) string {
	switch {
	case plainValue.MatchString(value):
		return value
	case strings.ContainsAny(value, "\"$`\\!"):
		return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	}
	return `"` + value + `"`
}
