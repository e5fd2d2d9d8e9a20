package tensorcache

import "github.com/tensorcache/tensorcache/layout"

// numbers reads columns of numbers of S as N, which is T.
func numbers[S, N layout.Number, T Value](d *layout.Data,
	columns []*layout.ManifestColumn) (func(from, step, n int64, out []T, row, feature int64),
	error) {
	sources := make([]layout.Strided[S], len(columns))
	for i, c := range columns {
		var err error
		if sources[i], err = layout.View[S](d, c); err != nil {
			return nil, err
		}
	}
	return func(from, step, n int64, out []T, row, feature int64) {
		to, rest := any(out).([]N), sources
		// several are apart, so each is in one piece
		for ; len(rest) >= 4 && step == 1 && feature == 1; rest = rest[4:] {
			four(rest[0].Data[from:from+n], rest[1].Data[from:from+n], rest[2].Data[from:from+n],
				rest[3].Data[from:from+n], to, row)
			to = to[4:]
		}
		for i := range rest {
			one(&rest[i], from, step, n, to[int64(i)*feature:], row, feature)
		}
	}, nil
}

// four writes rows of four columns: one column at a time would write every line of memory as often
// as there are columns.
func four[S, N layout.Number](a, b, c, d []S, to []N, row int64) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	at := int64(0)
	for i := range a {
		out := to[at : at+4 : at+4]
		out[0], out[1], out[2], out[3] = N(a[i]), N(b[i]), N(c[i]), N(d[i])
		at += row
	}
}

// one writes one column.
func one[S, N layout.Number](v *layout.Strided[S], from, step, n int64, to []N, row,
	feature int64) {
	for f := range v.Width {
		in, to, apart := v.Data[from*v.Step+f:], to[f*feature:], step*v.Step
		if apart > 1 {
			for k := range n {
				to[k*row] = N(in[k*apart])
			}
			continue
		}
		if as, is := any(in[:n]).([]N); is && row == 1 {
			copy(to, as)
			continue
		}
		at := int64(0)
		for _, v := range in[:n] {
			to[at] = N(v)
			at += row
		}
	}
}

// halves reads columns of float16 as N, which is T: no Go type converts them.
func halves[N layout.Number, T Value](d *layout.Data,
	columns []*layout.ManifestColumn) (func(from, step, n int64, out []T, row, feature int64),
	error) {
	var sources []layout.Strided[layout.Half]
	for _, c := range columns {
		v, err := layout.View[layout.Half](d, c)
		if err != nil {
			return nil, err
		}
		sources = append(sources, v)
	}
	return func(from, step, n int64, out []T, row, feature int64) {
		to, at := any(out).([]N), int64(0)
		for _, v := range sources {
			for f := range v.Width {
				for k := range n {
					to[at+k*row] = N(v.Data[(from+k*step)*v.Step+f].Float32())
				}
				at += feature
			}
		}
	}, nil
}
