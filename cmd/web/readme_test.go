package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The README lists every variable that the program reads, and none that it does not.
func TestTheReadmeListsEveryVariable(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`STOROZH_[A-Z_]+|DATABASE_URL`)
	var read []string
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err != nil {
			t.Fatal(err)
		} else if !strings.HasSuffix(f, "_test.go") {
			read = append(read, name.FindAllString(string(text), -1)...)
		}
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := name.FindAllString(string(text), -1)
	for _, v := range read {
		if !slices.Contains(listed, v) {
			t.Errorf("README.md does not list %s", v)
		}
	}
	for _, v := range listed {
		if !slices.Contains(read, v) && !strings.HasPrefix(v, "STOROZH_TEST_") {
			t.Errorf("README.md lists %s, which the program does not read", v)
		}
	}
}
