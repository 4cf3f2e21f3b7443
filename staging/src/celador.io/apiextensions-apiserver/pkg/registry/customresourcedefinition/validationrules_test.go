// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/registry/generic"
)

// A chain that Kubernetes' type checker needs hours for is refused before Kubernetes' validation
// sees it. In a schema that is stored, it is accepted, and is not seen either.
func TestLargeValidationRules(t *testing.T) {
	_, ours, _ := servers(t, generic.UndecoratedStorage)
	rule := func(calls int) string {
		return `"x-kubernetes-validations": [{"rule": "optional.of(1)` + strings.Repeat(".optMap(x, x)", calls) + `.hasValue()"}]`
	}
	root := func(calls int) string { return `{"type": "object", ` + rule(calls) + `}` }
	message := `{"type": "object", "x-kubernetes-validations": [{"rule": "true", "messageExpression": "optional.of('a')` + strings.Repeat(".optMap(x, x)", 30) + `.value()"}]}`
	items := `{"type": "object", "properties": {"a": {"type": "array", "maxItems": 3, "items": {"type": "string", ` + rule(30) + `}}}}`
	invalid := `{"type": "object", "x-kubernetes-validations": [{"rule": "1"}]}`
	const first, second = "spec.versions[0].schema.openAPIV3Schema.", "spec.versions[1].schema.openAPIV3Schema."
	const large = ".rule: Invalid value: \"optional.of(1)"
	for name, test := range map[string]struct {
		// old has the stored schemas. Nil on create.
		old, updated []string
		errs         []string
	}{
		"short":                                 {updated: []string{root(5), object}},
		"at the root":                           {updated: []string{root(30), object}, errs: []string{first + "x-kubernetes-validations[0]" + large}},
		"in a message":                          {updated: []string{message, object}, errs: []string{first + "x-kubernetes-validations[0].messageExpression"}},
		"in items":                              {updated: []string{items, object}, errs: []string{first + "properties[a].items.x-kubernetes-validations[0]" + large}},
		"in allOf":                              {updated: []string{`{"type": "object", "allOf": [{` + rule(30) + `}]}`, object}, errs: []string{first + "allOf[0].x-kubernetes-validations[0]" + large}},
		"stored":                                {old: []string{root(30), object}, updated: []string{root(30), object}},
		"stored in a message":                   {old: []string{message, object}, updated: []string{message, object}},
		"stored in items":                       {old: []string{items, object}, updated: []string{items, object}},
		"stored in one schema":                  {old: []string{items}, updated: []string{items}},
		"stored beside another that is invalid": {old: []string{items, object}, updated: []string{items, invalid}, errs: []string{second + "x-kubernetes-validations[0].rule"}},
		"stored beside another that is large":   {old: []string{items, object}, updated: []string{items, root(30)}, errs: []string{second + "x-kubernetes-validations[0]" + large}},
		"stored in another version":             {old: []string{items, object}, updated: []string{object, items}, errs: []string{second + "properties[a].items.x-kubernetes-validations[0]" + large}},
		"corrected":                             {old: []string{root(30), object}, updated: []string{root(5), object}},
	} {
		t.Run(name, func(t *testing.T) {
			updated := decodeOurs(t, manifest(none, test.updated...))
			updated.Labels = map[string]string{"changed": "true"}
			var errs []string
			if test.old == nil {
				ours.store.CreateStrategy.PrepareForCreate(testContext(), updated)
				errs = messages(ours.store.CreateStrategy.Validate(testContext(), updated))
			} else {
				old := decodeOurs(t, manifest(none, test.old...))
				old.ResourceVersion, updated.ResourceVersion = "1", "1"
				ours.store.UpdateStrategy.PrepareForUpdate(testContext(), updated, old)
				before, stored := updated.DeepCopy(), old.DeepCopy()
				errs = messages(ours.store.UpdateStrategy.ValidateUpdate(testContext(), updated, old))
				compare(t, "updated", before, updated)
				compare(t, "stored", stored, old)
			}
			expectTexts(t, "errors", errs, test.errs, strings.HasPrefix)
		})
	}
}
