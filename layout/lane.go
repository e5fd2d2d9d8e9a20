package layout

// Lane is one feature of a column of shape [rows, n] as a plain column, for values that come feature by feature.
func (d Dest) Lane(i int64) Dest {
	d.sums.deferToEnd()
	d.data = d.data[i*d.DType.Size():]
	d.Width, d.write, d.populate, d.sums, d.collector = 0, nil, nil, nil, nil
	return d
}

// Lanes are n features of a column of shape [rows, m], from one on, as a column of its own: a plain one where n is 0.
func (d Dest) Lanes(i, n int64) Dest {
	d = d.Lane(i)
	d.Width = n
	return d
}
