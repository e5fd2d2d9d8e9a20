package main

import (
	"os"
	"strings"
	"testing"
)

func TestPathsHaveTheWordsOfTheDashboard(t *testing.T) {
	words, err := os.ReadFile("../../api/dashboard/words.js")
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range pathWords {
		if entry := path + `: "` + text + `",`; !strings.Contains(string(words), entry) {
			t.Errorf("api/dashboard/words.js has no %s", entry)
		}
	}
}
