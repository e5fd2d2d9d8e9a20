package textvalue

import "bytes"

// blanks are the signs that [Dialect.Thousands] " " stands for: a blank and no-break spaces.
var blanks = []string{" ", "\u00a0", "\u202f"}

// Ungroup returns a number without the signs between its thousands. ok is false if they are not
// between groups of three digits, or if the first group begins with 0.
func (d *Dialect) Ungroup(b []byte) (plain []byte, ok bool) {
	if d.Thousands == " " {
		b = bytes.Trim(b, "\u00a0\u202f")
	}
	separator := d.separatorOf(b)
	if separator == nil {
		return b, true
	}
	marks := string(d.Decimal)
	if d.Decimal == 0 {
		marks = ".,"
	}
	whole, rest := b, []byte(nil)
	if at := bytes.IndexAny(b, marks); at >= 0 {
		whole, rest = b[:at], b[at:]
	}
	if len(whole) > 0 && (whole[0] == '+' || whole[0] == '-') {
		plain, whole = append(plain, whole[0]), whole[1:]
	}
	if len(whole) > 0 && whole[0] == '0' { // as in 0,123, where the sign is a decimal one
		return b, false
	}
	for i, group := range bytes.Split(whole, separator) {
		isGroup := len(group) == 3 || i == 0 && len(group) > 0 && len(group) < 3
		if !isGroup || len(bytes.Trim(group, "0123456789")) > 0 {
			return b, false
		}
		plain = append(plain, group...)
	}
	return append(plain, rest...), true
}

// separatorOf returns the sign between thousands that b contains, nil for none.
func (d *Dialect) separatorOf(b []byte) []byte {
	all := []string{d.Thousands}
	switch d.Thousands {
	case "":
		return nil
	case " ":
		all = blanks
	}
	for _, sign := range all {
		if bytes.Contains(b, []byte(sign)) {
			return []byte(sign)
		}
	}
	return nil
}
