package main

import (
	"slices"
	"testing"
)

func TestUserIDsOfRepeatedFlagsAreJoined(t *testing.T) {
	var ids uidsFlag
	for _, text := range []string{"1000, 1001", "0", "4294967294"} {
		if err := ids.Set(text); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(ids, uidsFlag{1000, 1001, 0, 4294967294}) ||
		ids.String() != "1000,1001,0,4294967294" {
		t.Error(ids)
	}
	for _, text := range []string{"", ",", "1,,2", "-5", "1.5", "4294967295",
		"99999999999", "0x10"} {
		if err := ids.Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
