// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/yaml"

	"celador.io/offline/suite"
)

// contextLines is the number of equal lines that a diff shows around a change.
const contextLines = 3

// unified returns a unified diff of the YAML of two objects.
func unified(d suite.Difference) string {
	diff := difflib.UnifiedDiff{FromFile: "want", ToFile: "got", Context: contextLines}
	for _, side := range []struct {
		object map[string]any
		lines  *[]string
	}{{d.Want, &diff.A}, {d.Got, &diff.B}} {
		text, err := yaml.Marshal(side.object)
		if err != nil {
			return err.Error()
		}
		*side.lines = difflib.SplitLines(strings.TrimSuffix(string(text), "\n"))
	}
	text, err := difflib.GetUnifiedDiffString(diff)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(text, "\n")
}
