package sampler

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrOptions is wrapped by every [OptionError].
var ErrOptions = errors.New("invalid feed options")

// OptionError names an invalid option, its value and what is allowed.
type OptionError struct {
	Field   string `json:"field"`
	Value   string `json:"value"` // a number, null or a text; "" if there is none
	Allowed string `json:"allowed"`
}

func (e *OptionError) Error() string {
	value := e.Value
	if value == "" {
		return fmt.Sprintf("%s: want %s", e.Field, e.Allowed)
	}
	if _, err := strconv.ParseFloat(value, 64); err != nil && value != "null" {
		value = strconv.Quote(value)
	}
	return fmt.Sprintf("%s: got %s, want %s", e.Field, value, e.Allowed)
}

// Unwrap makes errors.Is(err, ErrOptions) true.
func (e *OptionError) Unwrap() error { return ErrOptions }

// Values of Options.Tail. "" is short for one rank and wrap for several.
const (
	Short = "short"
	Wrap  = "wrap"
	Drop  = "drop"
)

// Options select the order in which one rank visits an index. Only BatchSize is required.
type Options struct {
	Order string `json:"order,omitempty"` // one of Orders(); "" is sequential
	Seed  uint64 `json:"seed,omitempty"`
	// BatchSize is required: a number of windows, or WholeGroups.
	BatchSize   BatchSize `json:"batch_size"`
	Rank        int64     `json:"rank,omitempty"`
	NumReplicas int64     `json:"num_replicas,omitempty"` // 0 means 1
	Tail        string    `json:"tail,omitempty"`
	// MinItems leaves out groups with fewer windows, in orders with Traits.Groups; 0 means 1.
	MinItems int64 `json:"min_items,omitempty"`
	// Weights are the weights of items, for bootstrap.
	Weights Weights `json:"weights,omitzero"`
}

// allowedSizes returns which batch sizes are allowed, for the message that refuses b.
func allowedSizes(b BatchSize) string {
	allowed := fmt.Sprintf("a whole number from 1 to %d", int64(maxStep))
	if orders := groupOrders(); b == WholeGroups && len(orders) > 0 {
		allowed += fmt.Sprintf(": whole groups are for order %s", OneOf(orders))
	}
	return allowed
}

// maxStep is the largest number of windows of a step.
const maxStep = 1 << 48

// Validate returns an *OptionError if the options are invalid for any windows.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}

// withDefaults validates the options and sets the defaults.
func (o Options) withDefaults() (Options, error) {
	if o.Order == "" {
		o.Order = Sequential
	}
	if o.NumReplicas == 0 {
		o.NumReplicas = 1
	}
	if o.Tail == "" {
		o.Tail = Short
		if o.NumReplicas > 1 {
			o.Tail = Wrap
		}
	}
	num := func(v int64) string { return strconv.FormatInt(v, 10) }
	k, known := kindOf(o.Order)
	if !known {
		return o, &OptionError{"order", o.Order, OneOf(Orders())}
	}
	switch o.Tail {
	case Short, Wrap, Drop:
	default:
		return o, &OptionError{"tail", o.Tail, "short, wrap or drop"}
	}
	size := o.BatchSize.count()
	if o.BatchSize == WholeGroups && k.traits.Groups {
		size = 1
	}
	switch {
	case size < 1 || size > maxStep:
		return o, &OptionError{"batch_size", o.BatchSize.String(), allowedSizes(o.BatchSize)}
	case o.NumReplicas < 1 || o.NumReplicas > maxStep/size:
		return o, &OptionError{"num_replicas", num(o.NumReplicas),
			fmt.Sprintf("a whole number from 1 to %d at batch_size %s", maxStep/size, o.BatchSize)}
	case o.Rank < 0 || o.Rank >= o.NumReplicas:
		return o, &OptionError{"rank", num(o.Rank),
			fmt.Sprintf("a whole number from 0 to num_replicas − 1 = %d", o.NumReplicas-1)}
	case !o.Weights.IsZero() && !k.cursor.weights:
		return o, &OptionError{"weights", "",
			fmt.Sprintf("order %s with them, or none", OneOf(weightedOrders()))}
	}
	if err := o.checkMinItems(k.traits); err != nil {
		return o, err
	}
	return o, o.Weights.check()
}
