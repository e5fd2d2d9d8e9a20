package option

// canonicalScale leaves out none if it is what all others are, and spells it so elsewhere.
func canonicalScale(p PerColumn[string]) PerColumn[string] {
	out := PerColumn[string]{rest: p.rest, by: map[string]string{}}
	if out.rest == none {
		out.rest = ""
	}
	for name, v := range p.by {
		switch {
		case v != "" && v != none:
			out.by[name] = v
		case out.rest != "":
			out.by[name] = none
		}
	}
	return out
}
