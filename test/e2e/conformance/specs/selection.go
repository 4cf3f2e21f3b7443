// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package specs selects Kubernetes' end-to-end specs, runs them and summarizes the results.
package specs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Group names specs that are tested together. For Kubernetes' suite, it is the name of a
// top-level container of [sig-api-machinery], up to the first space.
type Group string

// Has reports whether the spec with the given full name belongs to the group.
func (g Group) Has(spec string) bool {
	return strings.HasPrefix(spec, "[sig-api-machinery] "+string(g)+" ")
}

// A Selection holds the specs of a group: those to run, and those that are excepted.
type Selection struct {
	// Group is the group of the specs.
	Group Group
	// Run holds the names of the specs to run.
	Run []string
	// Excepted holds the specs that are not run.
	Excepted []Exception
}

// Select returns a selection of specs for each group, from the names of all specs. It returns an
// error that names each group without specs, so that the list of groups stays up to date.
func Select(all []string, groups []Group) ([]Selection, error) {
	selections := make([]Selection, 0, len(groups))
	var problems []error
	for _, group := range groups {
		selection := Selection{Group: group}
		for _, name := range all {
			if group.Has(name) {
				selection.Run = append(selection.Run, name)
			}
		}
		if len(selection.Run) == 0 {
			problems = append(problems, fmt.Errorf("group %q has no specs", group))
		}
		selections = append(selections, selection)
	}
	return selections, errors.Join(problems...)
}

// Except returns the selections with the specs in list moved from Run to Excepted. list has the
// format of ReadExceptions. If all is set, no spec is excepted, and Except returns the selections
// as they are. It returns an error if the list is malformed, or names a spec that no selection
// runs, so that the list stays up to date.
func Except(selections []Selection, list string, all bool) ([]Selection, error) {
	exceptions, err := ReadExceptions(strings.NewReader(list))
	if err != nil {
		return nil, fmt.Errorf("exceptions.txt: %w", err)
	}
	stale := slices.Clone(exceptions)
	excepted := make([]Selection, 0, len(selections))
	for _, from := range selections {
		to := Selection{Group: from.Group}
		for _, name := range from.Run {
			matches := func(e Exception) bool { return e.Spec == name }
			if at := slices.IndexFunc(exceptions, matches); at >= 0 {
				to.Excepted = append(to.Excepted, exceptions[at])
				stale = slices.DeleteFunc(stale, matches)
			} else {
				to.Run = append(to.Run, name)
			}
		}
		excepted = append(excepted, to)
	}
	var problems []error
	for _, exception := range stale {
		problems = append(problems, fmt.Errorf("exceptions.txt: there is no spec %q: delete or correct its line", exception.Spec))
	}
	if all {
		excepted = selections
	}
	return excepted, errors.Join(problems...)
}
