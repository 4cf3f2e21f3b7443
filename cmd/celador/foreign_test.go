// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/foreign"
	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
)

// TestForeignSuites runs the suites of other tools in testdata, and the native suites that they are
// converted to. A file results.txt has a
// line for each case: its position, name, verdict and decision.
func TestForeignSuites(t *testing.T) {
	const testdata = "../../staging/src/celador.io/offline/foreign/testdata"
	tools, err := os.ReadDir(testdata)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		t.Run(tool.Name(), func(t *testing.T) {
			directory := t.TempDir()
			if err := os.CopyFS(directory, os.DirFS(filepath.Join(testdata, tool.Name()))); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join(testdata, tool.Name(), "results.txt")
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			loader := &suite.Loader{Formats: foreign.Formats()}
			files, err := loader.Find(directory)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, file := range files {
				results := runFile(t, loader, file)
				for _, line := range verdicts(results, true) {
					got.WriteString(strings.TrimPrefix(line, directory+string(filepath.Separator)))
				}
				documents, err := loader.Convert(file)
				if err != nil {
					t.Fatal(err)
				}
				var text bytes.Buffer
				for _, document := range documents {
					yaml, err := document.YAML()
					if err != nil {
						t.Fatal(err)
					}
					text.WriteString("---\n" + string(yaml))
				}
				converted := filepath.Join(filepath.Dir(file), "converted.yaml")
				if err := os.WriteFile(converted, text.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(verdicts(results, false), verdicts(runFile(t, new(suite.Loader), converted), false)); diff != "" {
					t.Errorf("results of the converted suites (-original +converted):\n%s\n%s", diff, text.String())
				}
			}
			if diff := cmp.Diff(strings.SplitAfter(string(want), "\n"), strings.SplitAfter(got.String(), "\n")); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDenialsNeedThePolicy replaces the validations of the policies in testdata by true, or by an
// expression that fails. No expected denial is then met, whatever else rejects the request.
func TestDenialsNeedThePolicy(t *testing.T) {
	validation := regexp.MustCompile(`(?m)^( *- expression: ).*$`)
	const testdata = "../../staging/src/celador.io/offline/foreign/testdata"
	for _, expression := range []string{"true", "'a' == dyn([1])[2]"} {
		t.Run(expression, func(t *testing.T) {
			directory := t.TempDir()
			if err := os.CopyFS(directory, os.DirFS(testdata)); err != nil {
				t.Fatal(err)
			}
			err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || filepath.Ext(path) != ".yaml" {
					return err
				}
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				return os.WriteFile(path, validation.ReplaceAll(text, []byte(`${1}"`+expression+`"`)), 0o600)
			})
			if err != nil {
				t.Fatal(err)
			}
			loader := &suite.Loader{Formats: foreign.Formats()}
			files, err := loader.Find(directory)
			if err != nil {
				t.Fatal(err)
			}
			denials := 0
			for _, file := range files {
				tests, err := loader.Load(file)
				if err != nil {
					t.Fatal(err)
				}
				for i, result := range (&suite.Runner{Backend: offlinebackend.KubeAPIServer}).Run(t.Context(), tests) {
					for j := range result.Cases {
						if tests[i].Suite.Cases[j].Expect.Decision != suite.Denied {
							continue
						}
						denials++
						if c := &result.Cases[j]; c.Passed() {
							t.Errorf("%s: %s passes with the decision %s", c.Position, c.Name, c.Decision)
						}
					}
				}
			}
			if denials < 20 {
				t.Errorf("%d cases expect a denial, want 20 or more", denials)
			}
		})
	}
}

func runFile(t *testing.T, loader *suite.Loader, file string) []suite.Result {
	t.Helper()
	tests, err := loader.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return (&suite.Runner{Backend: offlinebackend.KubeAPIServer}).Run(t.Context(), tests)
}

// verdicts returns a line for each case of the results, with its position or without.
func verdicts(results []suite.Result, positions bool) []string {
	var lines []string
	for _, result := range results {
		for i := range result.Cases {
			c := &result.Cases[i]
			line := fmt.Sprintf("%s/%s: %s", result.Name, c.Name, c.Decision)
			if positions {
				line = c.Position.String() + ": " + line
			}
			switch {
			case c.Err != nil:
				line += fmt.Sprintf(" error: %v", c.Err)
			case c.Skipped != "":
				line += "skipped: " + c.Skipped
			case !c.Passed():
				line += " failed"
			}
			if c.Note != "" {
				line += " (" + c.Note + ")"
			}
			lines = append(lines, line+"\n")
		}
	}
	return lines
}
