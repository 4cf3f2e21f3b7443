// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/yaml"

	"celador.io/offline/suite"
)

// contextLines is the number of equal lines that a diff shows around a change.
const contextLines = 3

// unified returns a unified diff from the object that the case expects to the object after
// admission, as YAML.
func unified(d suite.Difference) string { return Diff("want", "got", d.Want, d.Got) }

// Diff returns a unified diff of the YAML of two objects. from and to are their names in the header
// of the diff. The diff is empty if the objects are equal.
func Diff(from, to string, before, after map[string]any) string {
	diff := difflib.UnifiedDiff{FromFile: from, ToFile: to, Context: contextLines}
	for _, side := range []struct {
		object map[string]any
		lines  *[]string
	}{{before, &diff.A}, {after, &diff.B}} {
		text, err := yaml.Marshal(side.object)
		if err != nil { // the encoder refuses some control characters
			if text, err = json.MarshalIndent(side.object, "", "  "); err != nil {
				return err.Error()
			}
		}
		*side.lines = difflib.SplitLines(strings.TrimSuffix(string(text), "\n"))
	}
	text, err := difflib.GetUnifiedDiffString(diff)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(text, "\n")
}
