package load

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestPartsOfATimeThatAreNoWholeNumbersAreRefusedWithTheirRemedy has hours of each other type.
func TestPartsOfATimeThatAreNoWholeNumbersAreRefusedWithTheirRemedy(t *testing.T) {
	type floats struct {
		Y int64   `parquet:"y"`
		H float64 `parquet:"h"`
		V float64 `parquet:"v"`
	}
	type texts struct {
		Y int64   `parquet:"y"`
		H string  `parquet:"h"`
		V float64 `parquet:"v"`
	}
	type bools struct {
		Y int64   `parquet:"y"`
		H bool    `parquet:"h"`
		V float64 `parquet:"v"`
	}
	type times struct {
		Y int64   `parquet:"y"`
		H int64   `parquet:"h,timestamp(millisecond)"`
		V float64 `parquet:"v"`
	}
	const inText = "write the parts of a time as whole numbers: 1 for Jan or 1.0"
	for _, c := range []struct{ name, text, want, hint string }{
		{"x.parquet", parquetOf(t, floats{}), `"h": is float64, want whole numbers for the month`,
			"drop or fill the rows without a value, then cast the column to integers"},
		{"x.parquet", parquetOf(t, texts{}), `"h": is text, want whole numbers for the month`,
			"store the column as integers, as 1 for Jan"},
		{"x.parquet", parquetOf(t, bools{}), `"h": is bool, want whole numbers for the month`,
			"store the column as integers"},
		{"x.parquet", parquetOf(t, times{}), `"h": is timestamp[ms`,
			"a column of times needs no others: `time=\"h\"`"},
		{"x.csv", "y,h,v\n2010,Jan,1\n", `"Jan" is not a whole number, want the month`, inText},
		{"x.csv", "y,h,v\n2010,1,1\n2010,2.0,1\n", `"2.0" is not a whole number`, inText},
		{"x.jsonl", `{"y":2010,"h":1.0,"v":1}` + "\n", `"1.0" is not a whole number`, inText},
		{"x.csv", "y,h,v\n2010,,1\n", "the cell is missing", "leave the rows out"},
	} {
		_, _, err := loadInProcess(t, option.Options{
			Sources:   []string{loadtest.File(t, c.name, c.text)},
			TimeParts: []string{"y", "h"},
		})
		loadtest.Refused(t, err, c.want, c.hint)
	}
}
