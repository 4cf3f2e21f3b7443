// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package specs decides which of Kubernetes' end-to-end specs run, runs them and says how they went.
package specs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Group is the name of a top-level container of specs of [sig-api-machinery], up to its first space.
type Group string

// Has tells whether the spec of that full name belongs to the group.
func (g Group) Has(spec string) bool {
	return strings.HasPrefix(spec, "[sig-api-machinery] "+string(g)+" ")
}

// Selection is what counts of the specs of a group.
type Selection struct {
	// Group is where the specs are from.
	Group Group
	// Run has the names of the specs to run.
	Run []string
	// Excepted has the specs that are left out.
	Excepted []Exception
}

// Select takes from all names of existing specs those of groups, without the exceptions, and returns a selection for
// each group. The error names every group that has no spec and every exception that is not about a spec of the
// groups, since a list that has gone stale hides what it was meant to show.
func Select(all []string, groups []Group, exceptions []Exception) ([]Selection, error) {
	selections := make([]Selection, 0, len(groups))
	stale := slices.Clone(exceptions)
	var problems []error
	for _, group := range groups {
		selection := Selection{Group: group}
		for _, name := range all {
			if !group.Has(name) {
				continue
			}
			excepted := func(e Exception) bool { return e.Spec == name }
			if at := slices.IndexFunc(exceptions, excepted); at >= 0 {
				selection.Excepted = append(selection.Excepted, exceptions[at])
				stale = slices.DeleteFunc(stale, excepted)
			} else {
				selection.Run = append(selection.Run, name)
			}
		}
		if len(selection.Run)+len(selection.Excepted) == 0 {
			problems = append(problems, fmt.Errorf("group %q has no specs", group))
		}
		selections = append(selections, selection)
	}
	for _, exception := range stale {
		problems = append(problems, fmt.Errorf("there is no spec %q: delete or correct its line", exception.Spec))
	}
	return selections, errors.Join(problems...)
}
