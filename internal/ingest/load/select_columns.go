package load

import (
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// selectColumns names the wanted columns of a file to its reader, if the reader can select and the
// options name columns. Columns that parts define are not in the file. If there is an error, it
// closes the reader.
func (l *load) selectColumns(r source.Reader, parts []files.Partition) error {
	s, ok := r.(source.Selective)
	if !ok || len(l.Columns) == 0 || l.Melt == option.MeltRows && len(l.ItemID) == 0 {
		return nil // melted rows need the first column too, which has no name yet
	}
	var names []string
	times := l.TimeParts
	if len(times) == 0 {
		times = []string{l.Time}
	}
	for _, name := range slices.Concat(l.ItemID, times, l.Columns) {
		isPart := slices.ContainsFunc(parts, func(p files.Partition) bool { return p.Key == name })
		if name != "" && !isPart {
			names = append(names, name)
		}
	}
	if err := s.Select(names); err != nil {
		r.Close()
		return err
	}
	return nil
}
