package sampler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrCursor is wrapped by errors about a cursor that is malformed, belongs to something else or is
// beyond the epoch's end.
var ErrCursor = errors.New("cursor does not fit")

// Cursor is a place in an order, from which training resumes exactly. It identifies the dataset,
// windows and order.
type Cursor struct {
	Epoch    uint64 `json:"epoch"`
	Consumed int64  `json:"consumed"` // by all ranks: windows, or blocks with Traits.Blocks

	Dataset string `json:"dataset"` // digest of the generation
	Windows string `json:"windows"` // hash of spec and cuts
	Order   string `json:"order"`
	// Spec is the JSON of spec and cuts of which Windows is the hash, or "". Only messages use it.
	Spec string `json:"spec,omitempty"`

	// Fields of some orders.
	Seed      uint64 `json:"seed,omitempty"`
	BatchSize int64  `json:"batch_size,omitempty"` // 0 means WholeGroups
	Lanes     int64  `json:"lanes,omitempty"`      // batch_size · num_replicas
	MinItems  int64  `json:"min_items,omitempty"`
	Weights   string `json:"weights,omitempty"` // hash of the weights of items, or their name
}

// Cursor returns the cursor at a consumed count, for a dataset's digest and the hash of the
// windows.
func (s *Sampler) Cursor(dataset, windows string, epoch uint64, consumed int64) Cursor {
	c := Cursor{Epoch: epoch, Consumed: consumed, Dataset: dataset, Windows: windows,
		Order: s.options.Order}
	has := s.kind.cursor
	if has.seed {
		c.Seed = s.options.Seed
	}
	if has.batchSize {
		c.BatchSize = s.options.BatchSize.count()
	}
	if has.lanes {
		c.Lanes = s.step
	}
	if has.minItems {
		c.MinItems = s.options.MinItems
	}
	if has.weights {
		c.Weights = s.options.Weights.cursor()
	}
	return c
}

// Check returns an error that wraps ErrCursor if a cursor does not belong to this sampler, the
// dataset and the windows, or if its consumed count is not possible in its epoch.
func (s *Sampler) Check(c Cursor, dataset, windows string) error {
	if err := c.Check(s.Cursor(dataset, windows, c.Epoch, 0)); err != nil {
		return err
	}
	n := s.entries(c.Epoch)
	if c.Consumed > n {
		return fmt.Errorf("%w: consumed %d is past the end of epoch %d at %d", ErrCursor,
			c.Consumed, c.Epoch, n)
	}
	if s.kind.traits.Resets && c.Consumed%s.step != 0 && c.Consumed != n {
		return fmt.Errorf("%w: consumed %d is inside a step of %d lanes", ErrCursor,
			c.Consumed, s.step)
	}
	return nil
}

// Check returns an error that lists the fields that differ from want, except epoch and consumed.
func (c Cursor) Check(want Cursor) error {
	var differs []string
	for _, f := range []struct{ name, got, want string }{
		{"dataset", c.Dataset, want.Dataset},
		{"windows", c.Windows, want.Windows},
		{"order", c.Order, want.Order},
		{"seed", strconv.FormatUint(c.Seed, 10), strconv.FormatUint(want.Seed, 10)},
		{"batch_size", sizeText(c.BatchSize), sizeText(want.BatchSize)},
		{"lanes", strconv.FormatInt(c.Lanes, 10), strconv.FormatInt(want.Lanes, 10)},
		{"min_items", strconv.FormatInt(c.MinItems, 10), strconv.FormatInt(want.MinItems, 10)},
		{"weights", c.Weights, want.Weights},
	} {
		if f.name == "windows" && f.got != f.want {
			if fields := specDifference(c.Spec, want.Spec); len(fields) > 0 {
				differs = append(differs, fields...)
				continue
			}
		}
		if f.got != f.want {
			differs = append(differs, fmt.Sprintf("%s is %q, want %q", f.name, f.got, f.want))
		}
	}
	if differs == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrCursor, strings.Join(differs, "; "))
}

// sizeText returns the batch size of a cursor, for messages.
func sizeText(batchSize int64) string {
	if batchSize == 0 {
		return WholeGroups.String()
	}
	return strconv.FormatInt(batchSize, 10)
}

// ParseCursor parses a cursor from JSON. It refuses unknown, repeated and misspelt fields, and
// fields that the order does not have.
func ParseCursor(data []byte) (Cursor, error) {
	var c Cursor
	if err := c.read(data); err != nil {
		return Cursor{}, fmt.Errorf("%w: %w", ErrCursor, err)
	}
	return c, nil
}

func (c *Cursor) read(data []byte) error {
	fields := map[string]any{
		"epoch": &c.Epoch, "consumed": &c.Consumed, "dataset": &c.Dataset, "windows": &c.Windows,
		"order": &c.Order, "spec": &c.Spec,
		"seed": &c.Seed, "batch_size": &c.BatchSize, "lanes": &c.Lanes, "weights": &c.Weights,
		"min_items": &c.MinItems,
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("want one JSON object")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		dst, ok := fields[name]
		if !ok {
			return fmt.Errorf("field %q is unknown or repeated", name)
		}
		delete(fields, name)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if err := json.Unmarshal(raw, dst); err != nil || string(raw) == "null" {
			return fmt.Errorf("%s: %q is not allowed", name, raw)
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("want one JSON object and nothing after it")
	}
	for _, name := range []string{"epoch", "consumed", "dataset", "windows", "order"} {
		if _, missing := fields[name]; missing {
			return fmt.Errorf("field %q is missing", name)
		}
	}
	return c.validate()
}

func (c *Cursor) validate() error {
	k, known := kindOf(c.Order)
	switch has := k.cursor; {
	case c.Consumed < 0:
		return fmt.Errorf("consumed: %d is below 0", c.Consumed)
	case c.BatchSize < 0 || c.BatchSize > 0 && !has.batchSize ||
		c.BatchSize == 0 && has.batchSize && !k.traits.Groups:
		return fmt.Errorf("batch_size: %d in order %q", c.BatchSize, c.Order)
	case has.lanes != (c.Lanes > 0) || c.Lanes < 0:
		return fmt.Errorf("lanes: %d in order %q", c.Lanes, c.Order)
	case has.minItems != (c.MinItems > 0) || c.MinItems < 0:
		return fmt.Errorf("min_items: %d in order %q", c.MinItems, c.Order)
	case known && !has.seed && c.Seed != 0:
		return fmt.Errorf("seed: %d in order %q", c.Seed, c.Order)
	case !has.weights && c.Weights != "":
		return fmt.Errorf("weights: %q in order %q", c.Weights, c.Order)
	case !known:
		return fmt.Errorf("order: %q is unknown", c.Order)
	}
	return nil
}
