// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"celador.io/offline/cluster"
)

// checkTypeWarnings compares the warnings of type checks with the expected ones, in any order. It returns an error if a check
// cannot run.
func (c *checker) checkTypeWarnings(created *cluster.Cluster, expect *Expectation) error {
	want := map[string]string{}
	for _, w := range expect.TypeWarnings {
		want[w.Policy+": "+w.FieldRef] = w.Pattern
	}
	got := map[string]string{}
	scopeKind, scopeName := cutKind(expect.Policy)
	for _, o := range c.objects {
		kind, name := o.content.GetKind(), o.content.GetName()
		if !o.isPolicy() || scopeName != "" && name != scopeName || scopeKind != "" && kind != scopeKind {
			continue
		}
		check, err := created.CheckTypes(kind, name)
		if err != nil {
			return fmt.Errorf("type check of %s %s: %w", kind, name, err)
		}
		for _, warning := range check.Warnings {
			got[name+": "+warning.FieldRef] = strings.TrimSpace(warning.Warning)
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

// typeWarnings checks the expected warnings of type checks.
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
