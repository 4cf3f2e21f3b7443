// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec_test

import (
	"fmt"
	"maps"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policyspec"
)

func TestGatedFields(t *testing.T) {
	t.Run("validating", func(t *testing.T) {
		testGatedFields[v1.ValidatingAdmissionPolicySpec](t, map[string]policyspec.Feature{
			"spec.policyType":                   policyspec.Singleton,
			"spec.typeChecking":                 policyspec.TypeEnforcement,
			"spec.validations[0].failurePolicy": policyspec.ValidationFailurePolicy,
			"spec.validations[0].fieldPath":     policyspec.Causes,
			"spec.validations[0].scope":         policyspec.ExpressionScopes,
			"spec.lookups":                      policyspec.Lookups,
		})
	})
	t.Run("mutating", func(t *testing.T) {
		testGatedFields[v1.MutatingAdmissionPolicySpec](t, map[string]policyspec.Feature{
			"spec.policyType":                       policyspec.MutatingSingleton,
			"spec.typeChecking":                     policyspec.TypeEnforcement,
			"spec.lookups":                          policyspec.Lookups,
			"spec.mutations[0].expression":          policyspec.InlineExpressions,
			"spec.mutations[0].condition":           policyspec.InlineExpressions,
			"spec.mutations[0].message":             policyspec.InlineExpressions,
			"spec.mutations[0].reason":              policyspec.InlineExpressions,
			"spec.mutations[0].reinvocationPolicy":  policyspec.InlineExpressions,
			"spec.mutations[0].jsonMergePatch":      policyspec.InlineExpressions,
			"spec.mutations[0].strategicMergePatch": policyspec.InlineExpressions,
		})
	})
	t.Run("validating binding", func(t *testing.T) {
		testGatedFields[v1.ValidatingAdmissionPolicyBindingSpec](t, map[string]policyspec.Feature{
			"spec.bindingType": policyspec.FallbackBinding,
		})
	})
	t.Run("mutating binding", func(t *testing.T) {
		testGatedFields[v1.MutatingAdmissionPolicyBindingSpec](t, map[string]policyspec.Feature{
			"spec.bindingType": policyspec.MutatingFallbackBinding,
		})
	})
}

// firstGated is the smallest protobuf number of a field that Kubernetes does not have.
const firstGated = 1000

// fullWith returns a full spec without gated fields, except those with one of the paths.
func fullWith[S policyspec.Spec](paths ...string) *S {
	spec, fields := full[S]()
	kept := map[string]bool{}
	for _, path := range paths {
		kept[path] = true
	}
	for _, f := range fields {
		if f.number >= firstGated && !kept[f.path] {
			f.value.SetZero()
		}
	}
	return spec
}

// testGatedFields checks each gated field of S. features holds the feature that the field needs by
// path.
func testGatedFields[S policyspec.Spec](t *testing.T, features map[string]policyspec.Feature) {
	every := policyspec.Features{
		policyspec.Singleton: true, policyspec.ValidationFailurePolicy: true, policyspec.FallbackBinding: true,
		policyspec.MutatingSingleton: true, policyspec.MutatingFallbackBinding: true,
		policyspec.TypeEnforcement: true, policyspec.InlineExpressions: true, policyspec.Lookups: true, policyspec.RequestTime: true, policyspec.Causes: true, policyspec.ExpressionScopes: true,
	}
	set, fields := full[S]()
	gated := map[string]bool{}
	for _, f := range fields {
		if f.number >= firstGated {
			gated[f.path] = true
			if features[f.path] == "" {
				t.Errorf("%s needs no feature", f.path)
			}
		}
	}
	for path := range features {
		if !gated[path] {
			t.Errorf("%s is a field of Kubernetes or does not exist", path)
		}
	}
	if got := policyspec.Disabled(set, nil); len(got) != len(features) {
		t.Errorf("disabled: %v, want %d fields", got, len(features))
	}
	if got := policyspec.Disabled(set, every); got != nil {
		t.Errorf("disabled with every feature: %v", got)
	}
	policyspec.DropDisabled(set, new(S), every)
	if want, _ := full[S](); !cmp.Equal(want, set) {
		t.Errorf("with every feature, the spec changes (-want +got):\n%s", cmp.Diff(want, set))
	}
	policyspec.DropDisabled(set, new(S), nil)
	if diff := cmp.Diff(fullWith[S](), set); diff != "" {
		t.Errorf("after DropDisabled without features (-want +got):\n%s", diff)
	}
	for path, feature := range features {
		testGatedField[S](t, path, feature, without(every, feature))
	}
}

func testGatedField[S policyspec.Spec](t *testing.T, path string, feature policyspec.Feature, others policyspec.Features) {
	with, without := func() *S { return fullWith[S](path) }, func() *S { return fullWith[S]() }
	want := field.ErrorList{{Type: field.ErrorTypeForbidden, Field: path, BadValue: "", Detail: fmt.Sprintf("requires the %s feature gate to be enabled", feature)}}
	if diff := cmp.Diff(want, policyspec.Disabled(with(), others)); diff != "" {
		t.Errorf("%s: errors with all other features (-want +got):\n%s", path, diff)
	}
	if got := policyspec.Disabled(with(), policyspec.Features{feature: true}); got != nil {
		t.Errorf("%s: errors with feature %s: %v", path, feature, got)
	}
	for name, test := range map[string]struct {
		stored   *S
		features policyspec.Features
		inUse    bool
	}{
		"create, all other features":    {new(S), others, false},
		"update, all other features":    {without(), others, false},
		"update, stored with the field": {with(), nil, true},
		"create, feature":               {new(S), policyspec.Features{feature: true}, true},
	} {
		t.Run(path+"/"+name, func(t *testing.T) {
			got, want, stored := with(), without(), *test.stored
			if test.inUse {
				want = with()
			}
			policyspec.DropDisabled(got, test.stored, test.features)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after DropDisabled (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&stored, test.stored); diff != "" {
				t.Errorf("DropDisabled changes the stored spec (-want +got):\n%s", diff)
			}
			if got := policyspec.InUse(test.stored, test.features)[feature]; got != test.inUse {
				t.Errorf("in use is %t, want %t", got, test.inUse)
			}
		})
	}
}

// InUse must not enable a feature in the features of the server.
func TestInUseCopies(t *testing.T) {
	features := policyspec.Features{policyspec.TypeEnforcement: true}
	got := policyspec.InUse(&v1.ValidatingAdmissionPolicySpec{PolicyType: new(v1.SingletonPolicy)}, features)
	if diff := cmp.Diff(policyspec.Features{policyspec.TypeEnforcement: true, policyspec.Singleton: true}, got); diff != "" {
		t.Errorf("features in use differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(policyspec.Features{policyspec.TypeEnforcement: true}, features); diff != "" {
		t.Errorf("the argument changed (-want +got):\n%s", diff)
	}
}

func TestEffective(t *testing.T) {
	spec := func(p *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicySpec { return &p.Spec }
	for name, test := range map[string]struct {
		set, want *v1.PolicyType
		features  policyspec.Features
		same      bool
	}{
		"not set":  {nil, nil, nil, true},
		"enabled":  {new(v1.SingletonPolicy), new(v1.SingletonPolicy), policyspec.Features{policyspec.Singleton: true}, true},
		"disabled": {new(v1.SingletonPolicy), nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			object := &v1.ValidatingAdmissionPolicy{Spec: v1.ValidatingAdmissionPolicySpec{PolicyType: test.set, Validations: []v1.Validation{{Expression: "true"}}}}
			before := object.DeepCopy()
			got := policyspec.Effective(object, spec, test.features)
			if same := got == object; same != test.same {
				t.Errorf("returns the object itself: %t, want %t", same, test.same)
			}
			want := before.DeepCopy()
			want.Spec.PolicyType = test.want
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("objects differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, object); diff != "" {
				t.Errorf("the argument changed (-want +got):\n%s", diff)
			}
		})
	}
}

type gates map[policyspec.Feature]bool

func (g gates) Enabled(f policyspec.Feature) bool { return g[f] }

func TestFeatures(t *testing.T) {
	all := policyspec.Features{
		policyspec.Singleton: true, policyspec.ValidationFailurePolicy: true, policyspec.FallbackBinding: true,
		policyspec.MutatingSingleton: true, policyspec.MutatingFallbackBinding: true,
		policyspec.TypeEnforcement: true, policyspec.InlineExpressions: true, policyspec.Lookups: true, policyspec.RequestTime: true, policyspec.Causes: true, policyspec.ExpressionScopes: true,
	}
	if diff := cmp.Diff(all, policyspec.FeaturesOf(gates(all))); diff != "" {
		t.Errorf("features differ (-want +got):\n%s", diff)
	}
	for feature := range all {
		for other, enabled := range policyspec.FeaturesOf(gates{feature: true}) {
			if enabled != (other == feature) {
				t.Errorf("with gate %s, %s is %t", feature, other, enabled)
			}
		}
		for other, enabled := range without(all, feature) {
			if enabled != (other != feature) {
				t.Errorf("without %s, %s is %t", feature, other, enabled)
			}
		}
	}
}

// without returns a copy of the features in which one is disabled.
func without(features policyspec.Features, disabled policyspec.Feature) policyspec.Features {
	rest := maps.Clone(features)
	rest[disabled] = false
	return rest
}

// Expressions that read request.time are not fields that could be dropped, but need a gate, too.
func TestGatedExpressions(t *testing.T) {
	const source = "request.time > timestamp('2027-01-01T00:00:00Z')"
	validating := func(source string) *v1.ValidatingAdmissionPolicySpec {
		return &v1.ValidatingAdmissionPolicySpec{
			MatchConditions: []v1.MatchCondition{{Name: "c", Expression: source}},
			Variables:       []v1.Variable{{Name: "v", Expression: source}},
			Validations:     []v1.Validation{{Expression: source, MessageExpression: "string(request.time)"}},
		}
	}
	mutating := &v1.MutatingAdmissionPolicySpec{Mutations: []v1.Mutation{{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: "[JSONPatch{op: 'add', path: '/a', value: string(request.time)}]"}}}}
	// with returns a policy with a variable r, and lookups that its validation reads.
	with := func(variable, validation string) *v1.ValidatingAdmissionPolicySpec {
		return &v1.ValidatingAdmissionPolicySpec{
			ParamKind:   &v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
			Lookups:     []v1.Lookup{{Name: "pods"}},
			Variables:   []v1.Variable{{Name: "r", Expression: variable}},
			Validations: []v1.Validation{{Expression: validation + " && lookups.pods.list().size() == 0 && params.data.a == request.name"}},
		}
	}
	on := policyspec.Features{policyspec.RequestTime: true}
	for name, test := range map[string]struct {
		errs field.ErrorList
		want []string
	}{
		"validating, off": {policyspec.Disabled(validating(source), nil), []string{
			"spec.matchConditions[0].expression", "spec.variables[0].expression", "spec.validations[0].expression", "spec.validations[0].messageExpression"}},
		"validating, on":                    {policyspec.Disabled(validating(source), on), nil},
		"validating, one":                   {policyspec.Disabled(validating("true"), nil), []string{"spec.validations[0].messageExpression"}},
		"validating, stored with it":        {policyspec.Disabled(validating(source), policyspec.InUse(validating(source), nil)), nil},
		"validating, fields to drop":        {policyspec.DisabledFields(validating(source), nil), nil},
		"in a macro":                        {policyspec.DisabledExpressions(with("object", "[request].all(r, r.time > timestamp(0))"), nil), []string{"spec.validations[0].expression"}},
		"in a variable":                     {policyspec.DisabledExpressions(with("(true ? request : request).time", "variables.r > timestamp(0)"), nil), []string{"spec.variables[0].expression"}},
		"in a macro, stored with it":        {policyspec.DisabledExpressions(with("object", "[request][0].time > timestamp(0)"), policyspec.InUse(with("object", "[request].all(r, has(r.time))"), nil)), nil},
		"another time":                      {policyspec.DisabledExpressions(with("object", "object.time == request.name && object.spec.time == 1 && variables.r.time == 1"), nil), nil},
		"a variable, which is dynamic":      {policyspec.DisabledExpressions(with("request", "variables.r.time > timestamp(0)"), nil), nil},
		"mutating, off":                     {policyspec.DisabledExpressions(mutating, nil), []string{"spec.mutations[0].jsonPatch.expression"}},
		"mutating, on":                      {policyspec.DisabledExpressions(mutating, on), nil},
		"binding, which has no expressions": {policyspec.DisabledExpressions(&v1.MutatingAdmissionPolicyBindingSpec{}, nil), nil},
	} {
		var got []string
		for _, err := range test.errs {
			got = append(got, err.Field)
			if want := "request.time requires the AdmissionPolicyRequestTime feature gate to be enabled"; err.Type != field.ErrorTypeInvalid || err.Detail != want {
				t.Errorf("%s: error %v, want Invalid with detail %q", name, err, want)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: fields of errors (-want +got):\n%s", name, diff)
		}
	}
	kept := validating(source)
	policyspec.DropDisabled(kept, validating(source), nil)
	if diff := cmp.Diff(validating(source), kept); diff != "" {
		t.Errorf("DropDisabled changes expressions (-want +got):\n%s", diff)
	}
}
