package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// uidsFlag is a flag of user ids that may be repeated. The largest number is no user id.
type uidsFlag []int

func (u *uidsFlag) String() string {
	words := make([]string, len(*u))
	for i, id := range *u {
		words[i] = strconv.Itoa(id)
	}
	return strings.Join(words, ",")
}

func (u *uidsFlag) Set(text string) error {
	for _, word := range strings.Split(text, ",") {
		id, err := strconv.ParseUint(strings.TrimSpace(word), 10, 32)
		if err != nil || id == math.MaxUint32 {
			return errors.New("want user ids from 0 to 4294967294, as 1000,1001")
		}
		*u = append(*u, int(id))
	}
	return nil
}

func (u *uidsFlag) Type() string { return "ids" }
