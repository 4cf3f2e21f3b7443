// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

// A PolicyWarning is a warning of the type check of a policy.
type PolicyWarning struct {
	// Kind is the kind of the policy.
	Kind   string
	Policy string
	// Field is the field of the expression, such as spec.validations[0].expression.
	Field string
	// Position is the place of the field.
	Position manifest.Position
	Text     string
}

// typeWarnings returns the warnings of the type check if the object is a policy, and none
// otherwise.
func (o object) typeWarnings(created *cluster.Cluster) ([]PolicyWarning, error) {
	if !o.isPolicy() {
		return nil, nil
	}
	kind, name := o.content.GetKind(), o.content.GetName()
	check, err := created.CheckTypes(kind, name)
	if err != nil {
		return nil, fmt.Errorf("type check of %s %s: %w", kind, name, err)
	}
	var warnings []PolicyWarning
	for _, w := range check.Warnings {
		warnings = append(warnings, PolicyWarning{kind, name, w.FieldRef, o.document.Position(w.FieldRef), strings.TrimSpace(w.Warning)})
	}
	return warnings, nil
}

// checkTypeWarnings compares the warnings of type checks with the expected ones, in any order. It
// returns an error if a check cannot run.
func (c *checker) checkTypeWarnings(created *cluster.Cluster, expect *Expectation) error {
	want := map[string]string{}
	for _, w := range expect.TypeWarnings {
		kind, name := cutKind(w.Policy)
		want[c.policyReference(kind, name)+": "+w.FieldRef] = w.Pattern
	}
	got := map[string]string{}
	scopeKind, scopeName := cutKind(expect.Policy)
	for _, o := range c.objects {
		if scopeName != "" && o.content.GetName() != scopeName || scopeKind != "" && o.content.GetKind() != scopeKind {
			continue
		}
		warnings, err := o.typeWarnings(created)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			got[c.policyReference(w.Kind, w.Policy)+": "+w.Field] = w.Text
		}
	}
	if !slices.Equal(keys(want), keys(got)) {
		var texts []string
		for key, text := range sorted(got) {
			texts = append(texts, key+": "+text)
		}
		c.fail("typeWarnings", quoted(keys(want)), quoted(texts))
		return nil
	}
	for key, pattern := range sorted(want) {
		if matched, _ := regexp.MatchString(pattern, got[key]); !matched { // Load has compiled the pattern.
			c.fail("typeWarnings", key+": "+pattern, key+": "+got[key])
		}
	}
	return nil
}

// policyReference returns the name of a policy, preceded by its kind and a slash if policies of both
// kinds have the name and the kind is given.
func (c *checker) policyReference(kind, name string) string {
	same := func(o object) bool { return o.isPolicy() && o.content.GetName() == name && o.content.GetKind() != kind }
	if kind == "" || !slices.ContainsFunc(c.objects, same) {
		return name
	}
	return kind + "/" + name
}

// typeWarnings checks that the type warnings of an expectation are valid.
func (l *loader) typeWarnings(path string, spec *Expectation) {
	for i := range spec.TypeWarnings {
		w, path := &spec.TypeWarnings[i], fmt.Sprintf("%s.typeWarnings[%d]", path, i)
		if w.Policy == "" {
			l.fail(path+".policy", "required: the name of the policy")
		}
		if w.FieldRef == "" {
			l.fail(path+".fieldRef", "required: the field of the expression, such as spec.validations[0].expression")
		}
		if _, err := regexp.Compile(w.Pattern); err != nil {
			l.fail(path+".pattern", "not a regular expression: %v", err)
		}
	}
}
