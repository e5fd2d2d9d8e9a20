package calendar

import (
	"slices"
	"strings"
)

// What may follow the name of a frequency and "-".
var (
	months   = strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")
	weekdays = strings.Fields("MON TUE WED THU FRI SAT SUN")
)

// frequencies are pandas' names of frequencies, old and new, in capitals, with what may follow them
// and with the features that time_features_from_frequency_str of GluonTS and of Time-Series-Library
// returns for them, in its order.
var frequencies = []struct {
	names, anchors, features []string
}{
	{[]string{"YE", "YS", "Y", "A", "AS"}, months, nil},
	{[]string{"QE", "QS", "Q"}, months, []string{"month"}},
	{[]string{"ME", "MS", "M"}, nil, []string{"month"}},
	{[]string{"W"}, weekdays, []string{"day", "weekofyear"}},
	{[]string{"D", "B", "C"}, nil, []string{"dayofweek", "day", "dayofyear"}},
	{[]string{"H"}, nil, []string{"hour", "dayofweek", "day", "dayofyear"}},
	{[]string{"MIN", "T"}, nil, []string{"minute", "hour", "dayofweek", "day", "dayofyear"}},
	{[]string{"S"}, nil, []string{"second", "minute", "hour", "dayofweek", "day", "dayofyear"}},
}

// OfFrequency returns the names of a frequency's columns. A number before the frequency, as in 15min,
// and the weekday or month after it, as in W-SUN, change nothing. Capitals are as small letters,
// except that ms are milliseconds, which have no features. ok is false for an unknown frequency.
func OfFrequency(frequency string) (names []string, ok bool) {
	name, anchor, anchored := strings.Cut(strings.TrimLeft(frequency, "0123456789"), "-")
	for _, f := range frequencies {
		if !slices.Contains(f.names, strings.ToUpper(name)) || name == "ms" ||
			anchored && !slices.Contains(f.anchors, strings.ToUpper(anchor)) {
			continue
		}
		for _, feature := range f.features {
			names = append(names, feature+unitSuffix)
		}
		return names, true
	}
	return nil, false
}
