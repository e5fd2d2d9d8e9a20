package loaderr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Option returns a load option with its value as messages of the daemon have it: `sort=true`. The
// value is JSON. The command line replaces it by a flag, the Python client by a keyword.
func Option(name string, value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return fmt.Sprintf("`%s`", name) // no caller has such a value
	}
	text := strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "`", `\u0060`)
	return fmt.Sprintf("`%s=%s`", name, text)
}

// ColumnOption is Option with a value for one column: `fill={"a":0}`.
func ColumnOption(name, column string, value any) string {
	return Option(name, map[string]any{column: value})
}
