package option

// Log1p takes log(1 + value) of a column.
type Log1p bool

var log1pOption = perColumnStep[bool]{
	usage: "take log(1 + value) of `columns`, \"*\" for all",
	field: func(o *Options) *PerColumn[bool] { return &o.Log1p },
	step:  func(on bool) Setting { return Log1p(on) },
}

// Name implements [Setting].
func (l Log1p) Name() string { return "log1p" }

// IsOff implements [Setting].
func (l Log1p) IsOff() bool { return !bool(l) }

// Validate implements [Setting].
func (l Log1p) Validate() error { return nil }

// Traits implements [Setting].
func (l Log1p) Traits() Traits { return Traits{NewQuantity: true} }
