package option

// Diff takes the differences of a column from row to row of an item.
type Diff bool

var diffOption = perColumnStep[bool]{
	usage: "take differences from row to row of `columns`, \"*\" for all",
	field: func(o *Options) *PerColumn[bool] { return &o.Diff },
	step:  func(on bool) Setting { return Diff(on) },
}

// Name implements [Setting].
func (d Diff) Name() string { return "diff" }

// IsOff implements [Setting].
func (d Diff) IsOff() bool { return !bool(d) }

// Validate implements [Setting].
func (d Diff) Validate() error { return nil }

// Traits implements [Setting].
func (d Diff) Traits() Traits { return Traits{NewQuantity: true} }
