// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// TestReferenceListsFlags compares the flags of all commands with docs/reference.md. Flags that
// cobra adds to every command, such as --help, are not listed.
func TestReferenceListsFlags(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed, flags []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| `--([a-z-]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, row[1]+" --"+row[2])
	}
	for _, command := range newCommand().Commands() {
		command.LocalFlags().VisitAll(func(flag *pflag.Flag) { flags = append(flags, command.Name()+" --"+flag.Name) })
	}
	slices.Sort(listed)
	slices.Sort(flags)
	if diff := cmp.Diff(listed, flags); diff != "" {
		t.Errorf("flags (-docs/reference.md +commands):\n%s", diff)
	}
}
