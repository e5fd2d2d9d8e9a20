package numerals

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// untouched is the value where no number has been written.
var untouched = math.Float64frombits(0x7ff8deadbeef0000)

// cellText draws a cell: a number, a text that is nearly a number, or any text.
var cellText = rapid.Custom(func(r *rapid.T) string {
	switch rapid.IntRange(0, 4).Draw(r, "kind") {
	case 0:
		return strconv.FormatFloat(rapid.Float64Range(-1e6, 1e6).Draw(r, "v"), 'f',
			rapid.IntRange(0, 12).Draw(r, "digits"), 64)
	case 1:
		return strconv.FormatInt(rapid.Int64().Draw(r, "i")>>rapid.IntRange(0, 63).Draw(r, "by"),
			10)
	case 2:
		return rapid.StringMatching(`-?[0-9]{0,18}(\.[0-9]{0,18})?`).Draw(r, "decimal")
	case 3:
		return rapid.SampledFrom([]string{"", "-", ".", "-.", ".5", "5.", "-.5", "--1", "1-2",
			"5.-3", "1.2.3", "+1", " 1", "1 ", `"1"`, "1e5", "NaN", "9007199254740992",
			"9007199254740991", "0.9007199254740993", "\r", "1\r", "-0", "-0.0",
			strings.Repeat("0", 70) + "1", "1." + strings.Repeat("0", 70)}).Draw(r, "odd")
	}
	return rapid.StringOf(rapid.RuneFrom([]rune("01789.-+e\r/:\"\x00ü"))).Draw(r, "any")
})

var plain = regexp.MustCompile(`^-?[0-9]*(\.[0-9]*)?$`)

// value returns the value that strconv parses. ok reports whether the cell is a plain number.
func value(cell string, kind Kind) (v float64, ok bool) {
	digits := strings.Trim(strings.Replace(cell, ".", "", 1), "-")
	if kind == Other || !plain.MatchString(cell) || len(digits) == 0 || len(digits) > 16 {
		return 0, false
	}
	if kind == Int64 {
		i, err := strconv.ParseInt(cell, 10, 64)
		return math.Float64frombits(uint64(i)), err == nil
	}
	mantissa, err := strconv.ParseUint(digits, 10, 64)
	v, err2 := strconv.ParseFloat(cell, 64)
	return v, err == nil && err2 == nil && mantissa < 1<<53
}

func TestReadEqualsStrconvForPlainNumbersAndStopsAtOthers(t *testing.T) {
	if !Available {
		t.Skip("the assembly needs AVX2, BMI1 and BMI2 (and no TENSORCACHE_PORTABLE=1)")
	}
	rapid.Check(t, func(r *rapid.T) {
		width, rows := rapid.IntRange(1, 5).Draw(r, "columns"),
			rapid.IntRange(1, 40).Draw(r, "rows")
		kinds := rapid.SliceOfN(rapid.SampledFrom([]Kind{Float64, Int64, Other}), width, width).
			Draw(r, "kinds")
		delim, end := rapid.SampledFrom([]string{",", ";", "\t", "|", " "}).Draw(r, "delim"),
			rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "end")
		point := rapid.SampledFrom([]byte{'.', ','}).Draw(r, "point")
		if string(point) == delim {
			delim = ";"
		}
		text := bytes.Repeat([]byte("7"), Lead)
		var cells, lasts [][]string // cells, and cells without the end of the line
		for range rows {
			row := make([]string, width)
			for c := range row {
				row[c] = strings.ReplaceAll(cellText.Draw(r, "cell"), delim, "")
			}
			line := strings.Join(row, delim)
			text = append(text, strings.ReplaceAll(line, ".", string(point))+end...)
			bare := append([]string{}, row...)
			if end == "\n" {
				bare[width-1] = strings.TrimSuffix(bare[width-1], "\r")
			}
			cells, lasts = append(cells, row), append(lasts, bare)
		}
		text = append(text, make([]byte, Pad)...)[:len(text)]
		for i := range Pad {
			text[len(text) : len(text)+Pad][i] = '1' // bytes that Begin must overwrite
		}

		var p Rows
		p.Reset(width, delim[0], point)
		p.Begin(text, rows)
		steps, to := make([]int, width), make([][]float64, width)
		ints := make([][]int64, width)
		for c, kind := range kinds {
			steps[c] = rapid.IntRange(1, 3).Draw(r, "step")
			for range (rows-1)*steps[c] + 1 {
				to[c], ints[c] = append(to[c], untouched),
					append(ints[c], int64(math.Float64bits(untouched)))
			}
			switch kind {
			case Float64:
				SetTarget(&p, c, to[c], steps[c])
			case Int64:
				SetTarget(&p, c, ints[c], steps[c])
			}
			if p.Reads(c) != (kind != Other) {
				r.Fatalf("column %d is read: %v", c, p.Reads(c))
			}
		}
		read := map[[2]int]bool{}
		start := Lead
		for p.At, p.Start = Lead, Lead; p.Row < rows; {
			row, column := p.Row, p.Column
			p.Read()
			for ; row < p.Row || row == p.Row && column < p.Column; column++ {
				if column == width {
					row, column = row+1, 0
					start += len(strings.Join(cells[row-1], delim)) + len(end)
					if row > p.Row || row == p.Row && p.Column == 0 {
						break
					}
				}
				read[[2]int{row, column}] = true
			}
			if p.Row == rows {
				break
			}
			if want := start + len(strings.Join(cells[p.Row][:p.Column], delim)) +
				min(1, p.Column); p.At != want || p.Start != start {
				r.Fatalf("stopped at %d of a row from %d, want %d of %d", p.At,
					p.Start, want, start)
			}
			// The caller parses the cell at which Read has stopped.
			p.At += len(cells[p.Row][p.Column]) + 1
			if p.Column++; p.Column == width {
				p.At += len(end) - 1
				p.Row, p.Column = p.Row+1, 0
				p.Start, start = p.At, p.At
			}
		}
		for row := range rows {
			for c, kind := range kinds {
				want, ok := value(lasts[row][c], kind)
				if ok != read[[2]int{row, c}] {
					r.Fatalf("row %d, column %d of kind %d, %q: read %v, want %v", row, c, kind,
						cells[row][c], !ok, ok)
				}
				got := to[c][row*steps[c]]
				if kind == Int64 {
					got = math.Float64frombits(uint64(ints[c][row*steps[c]]))
				}
				if !ok {
					want = untouched
				}
				if math.Float64bits(got) != math.Float64bits(want) {
					r.Fatalf("%q is %v, want %v", cells[row][c], got, want)
				}
			}
		}
	})
}
