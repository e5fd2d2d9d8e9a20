package main

import (
	"errors"
	"strconv"

	"github.com/tensorcache/tensorcache/sampler"
)

// batchSizeFlag is the flag --batch-size: a number of windows, or all for whole groups.
type batchSizeFlag struct{ to *sampler.BatchSize }

func (b batchSizeFlag) String() string { return "" }
func (b batchSizeFlag) Type() string   { return "windows" }

// Set parses the flag's text.
func (b batchSizeFlag) Set(text string) error {
	if text == "all" {
		*b.to = sampler.WholeGroups
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return errors.New("want a whole number from 1, or all for whole groups")
	}
	*b.to = sampler.BatchSize(n)
	return nil
}
