// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
)

// expensive returns a schema with 40 rules, which together exceed the limit of costs for a schema,
// but not alone.
func expensive(items int) string {
	rules := slices.Repeat([]string{`{"rule": "self.all(x, x.contains('abc'))"}`}, 40)
	return fmt.Sprintf(`{"type": "object", "properties": {"list": {"type": "array", "maxItems": %d, "items": {"type": "string", "maxLength": 100}, "x-kubernetes-validations": [%s]}}}`,
		items, strings.Join(rules, ", "))
}

func totalCosts(errs field.ErrorList) (total, other []string) {
	for _, err := range errs {
		if strings.Contains(err.Error(), "rule cost total") {
			total = append(total, err.Error())
		} else {
			other = append(other, err.Error())
		}
	}
	return total, other
}

// TestTotalCost checks that a stored CustomResourceDefinition that exceeds the limit for the rules
// of a schema can be updated if the schema does not change. Kubernetes rejects all updates but
// those of the status.
func TestTotalCost(t *testing.T) {
	theirServer, ourServer, _ := servers(t, generic.UndecoratedStorage)
	theirs, ours := theirServer.store.UpdateStrategy, ourServer.store.UpdateStrategy
	ctx := testContext()
	large, larger := expensive(300_000), expensive(310_000)
	first, second := "spec.versions[0].schema.", "spec.versions[1].schema."
	shared := "spec.validation."
	for name, test := range map[string]struct {
		old, updated string
		change       func(*upstream.CustomResourceDefinition)
		// rejected is the path of the schema whose cost is an error. It is empty if there is no
		// error.
		rejected string
	}{
		"labels":      {old: manifest(none, large), change: func(crd *upstream.CustomResourceDefinition) { crd.Labels = map[string]string{"a": "b"} }},
		"finalizers":  {old: manifest(none, large, object), change: func(crd *upstream.CustomResourceDefinition) { crd.Finalizers = []string{"example.com/a"} }},
		"short names": {old: manifest(none, large), change: func(crd *upstream.CustomResourceDefinition) { crd.Spec.Names.ShortNames = nil }},
		"columns": {old: manifest(none, large), change: func(crd *upstream.CustomResourceDefinition) {
			crd.Spec.AdditionalPrinterColumns = []upstream.CustomResourceColumnDefinition{{Name: "A", Type: "string", JSONPath: ".a"}}
		}},
		"status":                 {old: manifest(none, large), change: func(crd *upstream.CustomResourceDefinition) { crd.Status.AcceptedNames.Plural = "demos" }},
		"another version":        {old: manifest(none, large, object), updated: manifest(none, large, `{"type": "object"}`)},
		"another version, first": {old: manifest(none, object, large), updated: manifest(none, `{"type": "object"}`, large)},
		"added version":          {old: manifest(none, large), updated: manifest(none, large, object)},
		"removed version":        {old: manifest(none, large, object), updated: manifest(none, large)},
		"added, the same schema": {old: manifest(none, large), updated: manifest(none, large, large)},
		"changed schema":         {old: manifest(none, large), updated: manifest(none, larger), rejected: shared},
		"changed in one version": {old: manifest(none, large, object), updated: manifest(none, larger, object), rejected: first},
		"changed in the second":  {old: manifest(none, large, large), updated: manifest(none, large, larger), rejected: second},
		"new version":            {old: manifest(none, object), updated: manifest(none, object, large), rejected: second},
		"versions swapped":       {old: manifest(none, large, object), updated: manifest(none, object, large), rejected: second},
		"not over it before":     {old: manifest(none, object), updated: manifest(none, large), rejected: shared},
	} {
		t.Run(name, func(t *testing.T) {
			old := decode(t, test.old)
			old.ResourceVersion, old.Status.StoredVersions = "1", []string{"v1"}
			updated := old.DeepCopy()
			if test.updated != "" {
				updated.Spec = decode(t, test.updated).Spec
			}
			if test.change != nil {
				test.change(updated)
			}
			validate := func(s server, strategy rest.RESTUpdateStrategy) (total, other []string) {
				return totalCosts(strategy.ValidateUpdate(ctx, s.internal(updated), s.internal(old)))
			}
			theirTotal, theirOther := validate(theirServer, theirs)
			ourTotal, ourOther := validate(ourServer, ours)
			if len(theirTotal) == 0 {
				t.Error("Kubernetes does not reject the update any more")
			}
			if !slices.Equal(theirOther, ourOther) {
				t.Errorf("other errors: %q, want %q", ourOther, theirOther)
			}
			theirTotal = slices.DeleteFunc(theirTotal, func(text string) bool { return test.rejected == "" || !strings.HasPrefix(text, test.rejected) })
			if !slices.Equal(ourTotal, theirTotal) {
				t.Errorf("got %q, want %q", ourTotal, theirTotal)
			}
		})
	}
}
