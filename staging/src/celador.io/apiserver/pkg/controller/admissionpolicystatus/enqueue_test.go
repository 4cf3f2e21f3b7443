// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"testing"
	"testing/synctest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"
)

// A change of a definition enqueues the policies that name its custom resource, and no others. The
// fake API server does not store the status, so each check writes one.
func TestDefinitionEnqueues(t *testing.T) {
	definition := func(group, plural, kind string) *apiextensionsv1.CustomResourceDefinition {
		d := widgets(t, "a", 1, "{size: {type: integer}}")
		d.Name, d.Spec.Group = plural+"."+group, group
		d.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural}
		d.Status.AcceptedNames = d.Spec.Names
		return d
	}
	const wildcard = `{matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: ["*"]}]}, validations: [{expression: "true"}]}`
	for name, tc := range map[string]struct {
		spec       string
		definition *apiextensionsv1.CustomResourceDefinition
		enqueued   bool
	}{
		"matched":                    {onWidgets, definition("example.com", "widgets", "Widget"), true},
		"matched by another name":    {onWidgets, definition("example.com", "widgets", "Gadget"), true},
		"other resource":             {onWidgets, definition("example.com", "gadgets", "Gadget"), false},
		"other group":                {onWidgets, definition("example.org", "widgets", "Widget"), false},
		"matched by kind only":       {onWidgets, definition("example.com", "others", "Widget"), false},
		"parameters":                 {withLimits, definition("example.com", "widgets", "Widget"), true},
		"parameters of any plural":   {withLimits, definition("example.com", "others", "Widget"), true},
		"parameters, other kind":     {withLimits, definition("example.com", "widgets", "Gadget"), false},
		"parameters, other group":    {withLimits, definition("example.org", "widgets", "Widget"), false},
		"built-in types":             {fitting, definition("example.com", "widgets", "Widget"), false},
		"built-in group":             {fitting, definition("apps", "widgets", "Widget"), false},
		"types that are not checked": {wildcard, definition("example.com", "widgets", "Widget"), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, policy(t, tc.spec, "{}"))
				c.run(t)
				client := c.definitions.ApiextensionsV1().CustomResourceDefinitions()
				current := tc.definition.DeepCopy()
				for _, step := range []struct {
					name  string
					do    func()
					check bool
				}{
					{"it appears", func() { c.define(t, current) }, tc.enqueued},
					{"its labels change", func() {
						current.Labels = map[string]string{"nothing": "served"}
						update(t, client.Update, current.DeepCopy())
					}, false},
					{"it changes", func() {
						current.Generation++
						update(t, client.Update, current.DeepCopy())
					}, tc.enqueued},
					{"it goes", func() {
						if err := client.Delete(t.Context(), current.Name, metav1.DeleteOptions{}); err != nil {
							t.Fatal(err)
						}
					}, tc.enqueued},
				} {
					c.policies.ClearActions()
					step.do()
					c.settle()
					if checks := len(c.patches(t)); (checks > 0) != step.check {
						t.Errorf("when %s, the policy is checked %d times, want some: %t", step.name, checks, step.check)
					}
				}
			})
		})
	}
}

// A definition that is deleted before it is established may or may not be established during its
// deletion.
func TestDefinitionDeletedBeforeUse(t *testing.T) {
	const missing, found = metav1.ConditionFalse, metav1.ConditionTrue
	pending := widgets(t, "a", 1, "{size: {type: integer}}")
	pending.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	deleted := pending.DeepCopy()
	deleted.DeletionTimestamp, deleted.Finalizers = new(metav1.Now()), []string{apiextensionsv1.CustomResourceCleanupFinalizer}
	used := widgets(t, "a", 1, "{size: {type: integer}}")
	used.DeletionTimestamp, used.Finalizers = deleted.DeletionTimestamp, deleted.Finalizers
	for name, states := range map[string][]*apiextensionsv1.CustomResourceDefinition{
		"in use meanwhile":             {deleted, used},
		"in use, seen at once":         {used},
		"never in use":                 {deleted},
		"never in use, gone when seen": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, policy(t, onWidgets, "{}"))
				c.run(t)
				client := c.definitions.ApiextensionsV1().CustomResourceDefinitions()
				expect := func(when string, want metav1.ConditionStatus) {
					t.Helper()
					c.settle()
					sent := c.patches(t)
					if got := find(sent[len(sent)-1].Status.Conditions, v1.PolicyConditionAvailable); got.Status != want {
						t.Errorf("%s: got %s with message %q, want %s", when, got.Status, got.Message, want)
					}
				}
				c.define(t, pending)
				expect("when it appears", missing)
				for _, state := range states {
					update(t, client.Update, state.DeepCopy())
					want := missing
					if state == used {
						want = found
					}
					expect("when it changes", want)
				}
				if err := client.Delete(t.Context(), pending.Name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				expect("when it goes", missing)
			})
		})
	}
}
