// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typechecks_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/policytest"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/typechecks"
)

// types are types without schemas.
type types struct{ meta.RESTMapper }

// countingTypes count how often a resource is looked up.
type countingTypes struct {
	types
	lookups *int
}

func (c countingTypes) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	*c.lookups++
	return c.types.KindsFor(resource)
}

func (types) ResolveSchema(schema.GroupVersionKind) (*spec.Schema, error) {
	return nil, resolver.ErrSchemaNotFound
}

// Widgets are served in v1, v2 and v3beta1, gadgets in v1.
func TestExclusions(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, version := range []string{"v1", "v2", "v3beta1"} {
		mapper.Add(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Widget"}, meta.RESTScopeNamespace)
	}
	mapper.Add(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}, meta.RESTScopeNamespace)
	checker, err := typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
	if err != nil {
		t.Fatal(err)
	}
	warner := typechecks.New(checker)
	warner.Use(func() typecheck.Types { return types{mapper} })

	rule := func(version, resource string, operations ...v1.OperationType) v1.NamedRuleWithOperations {
		return policytest.Rule("example.com", version, resource, operations...)
	}
	everything := rule("*", "*")
	everything.APIGroups = []string{"*"}
	several := rule("v1", "widgets")
	several.APIVersions = []string{"v1", "v2"}
	warning := func(excluded, matched string) []string {
		return []string{"spec.matchConstraints.excludeResourceRules[0]: with matchPolicy Equivalent, the rule for widgets.example.com in " + excluded + " also excludes requests in " + matched +
			", which spec.matchConstraints.resourceRules[0] matches: to exclude requests in one version, write a match condition such as request.requestResource.version != 'v1' instead"}
	}
	for name, test := range map[string]struct {
		policy         v1.MatchPolicyType
		match, exclude v1.NamedRuleWithOperations
		want           []string
	}{
		"another version":             {v1.Equivalent, rule("v2", "widgets"), rule("v1", "widgets"), warning("v1", "v2")},
		"one of two versions":         {v1.Equivalent, several, rule("v1", "widgets"), warning("v1", "v2")},
		"two of three versions":       {v1.Equivalent, rule("*", "widgets"), several, warning("v1 and v2", "v3beta1")},
		"every version":               {v1.Equivalent, rule("*", "widgets"), rule("v1", "widgets"), warning("v1", "v2")},
		"everything":                  {v1.Equivalent, everything, rule("v1", "widgets"), warning("v1", "v2")},
		"everything, all of it":       {v1.Equivalent, everything, rule("*", "widgets"), nil},
		"everything, the one version": {v1.Equivalent, everything, rule("v1", "gadgets"), nil},
		"all versions":                {v1.Equivalent, several, several, nil},
		"the same version":            {v1.Equivalent, rule("v1", "widgets"), rule("v1", "widgets"), nil},
		"a version that is not there": {v1.Equivalent, rule("v2", "widgets"), rule("v9", "widgets"), nil},
		"matched version not there":   {v1.Equivalent, rule("v9", "widgets"), rule("v1", "widgets"), nil},
		"another resource":            {v1.Equivalent, rule("v2", "widgets"), rule("v1", "gadgets"), nil},
		"subresource":                 {v1.Equivalent, rule("v2", "widgets"), rule("v1", "widgets/status"), nil},
		"another operation":           {v1.Equivalent, rule("v2", "widgets", v1.Create), rule("v1", "widgets", v1.Delete), nil},
		"any operation":               {v1.Equivalent, rule("v2", "widgets", v1.Create), rule("v1", "widgets", v1.OperationAll), warning("v1", "v2")},
		"exact":                       {v1.Exact, rule("v2", "widgets"), rule("v1", "widgets"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			match := policytest.Match(test.policy, test.match)
			match.ExcludeResourceRules = []v1.NamedRuleWithOperations{test.exclude}
			validating := warner.Validating(t.Context(), policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: match, Validations: policytest.Validations("true")}))
			if diff := cmp.Diff(test.want, validating); diff != "" {
				t.Errorf("warnings of a validating policy (-want +got):\n%s", diff)
			}
			mutating := warner.Mutating(t.Context(), policytest.MutatingSpec("p", v1.MutatingAdmissionPolicySpec{MatchConstraints: match}))
			if diff := cmp.Diff(test.want, mutating); diff != "" {
				t.Errorf("warnings of a mutating policy (-want +got):\n%s", diff)
			}
		})
	}
}

// Short lists of names stand for millions of resources, which are not looked up while a client
// waits.
func TestManyExclusions(t *testing.T) {
	names := make([]string, 400)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	checker, err := typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
	if err != nil {
		t.Fatal(err)
	}
	lookups := 0
	warner := typechecks.New(checker)
	warner.Use(func() typecheck.Types { return countingTypes{types{meta.NewDefaultRESTMapper(nil)}, &lookups} })
	match := policytest.Match(v1.Equivalent, policytest.Rule("*", "*", "*"))
	rule := policytest.Rule("", "", "")
	rule.APIGroups, rule.APIVersions, rule.Resources = names, names, names
	match.ExcludeResourceRules = []v1.NamedRuleWithOperations{rule, rule}
	policy := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: match, Validations: policytest.Validations("true")})
	if warnings := warner.Validating(t.Context(), policy); len(warnings) > 0 || lookups == 0 || lookups > 2000 {
		t.Errorf("got %d lookups and the warnings %q", lookups, warnings)
	}
}
