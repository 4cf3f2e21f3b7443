// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	// target matches a target that make help lists.
	target = regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `)
	// anyTarget matches any target.
	anyTarget = regexp.MustCompile(`(?m)^([a-z0-9/-]+):(?:[^=]|$)`)
	// makeCommand matches a command of make in text or in a block of commands.
	makeCommand = regexp.MustCompile("(?m)(?:`|^    (?:.* && )?)make ((?:[a-z0-9/-]+ ?)+)")
)

// TestTargets checks that the commands in CONTRIBUTING.md are the targets that make help lists.
func TestTargets(t *testing.T) {
	var listed []string
	for _, row := range tableRows(t, "../CONTRIBUTING.md", "Commands") {
		listed = append(listed, targetsIn(row[0])...)
	}
	for _, found := range target.FindAllStringSubmatch(read(t, "../Makefile"), -1) {
		if !slices.Contains(listed, found[1]) {
			t.Errorf("CONTRIBUTING.md does not list make %s", found[1])
		}
	}
}

// TestCommandsOfMake checks that the targets of the commands on all pages exist.
func TestCommandsOfMake(t *testing.T) {
	targets := makeTargets(t)
	for _, pattern := range []string{"*.md", "../*.md", "../*/*.md", "../staging/src/celador.io/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(pages), err)
		}
		for _, page := range pages {
			for _, name := range targetsIn(read(t, page)) {
				if !slices.Contains(targets, name) {
					t.Errorf("%s says make %s, which the Makefile does not have", page, name)
				}
			}
		}
	}
}

// TestWorkflows checks that the workflows of the public CI can be parsed, and that the targets that
// they make exist.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	targets := makeTargets(t)
	for _, file := range files {
		var workflow struct {
			Jobs map[string]struct {
				Strategy struct{ Matrix struct{ Target []string } }
				Steps    []struct{ Run string }
			}
		}
		if err := yaml.Unmarshal([]byte(read(t, file)), &workflow); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for name, job := range workflow.Jobs {
			made := job.Strategy.Matrix.Target
			for _, step := range job.Steps {
				if command, ok := strings.CutPrefix(step.Run, "make "); ok && !strings.HasPrefix(command, "${{") {
					made = append(made, strings.Fields(command)...)
				}
			}
			for _, target := range made {
				if !slices.Contains(targets, target) {
					t.Errorf("job %s of %s makes %s, which the Makefile does not have", name, file, target)
				}
			}
		}
	}
}

// makeTargets returns the targets of the Makefile.
func makeTargets(t *testing.T) (targets []string) {
	t.Helper()
	for _, found := range anyTarget.FindAllStringSubmatch(read(t, "../Makefile"), -1) {
		targets = append(targets, found[1])
	}
	return targets
}

// targetsIn returns the targets of the commands of make in a text.
func targetsIn(text string) (targets []string) {
	for _, found := range makeCommand.FindAllStringSubmatch(text, -1) {
		targets = append(targets, strings.Fields(found[1])...)
	}
	return targets
}
