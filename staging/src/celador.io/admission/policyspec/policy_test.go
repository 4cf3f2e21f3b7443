// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
)

// sources returns the sources of a policy's expressions by path.
func sources(p *policyspec.Anatomy) map[string]string {
	result := map[string]string{}
	for _, e := range p.Expressions {
		result[e.Path.String()] = e.Source
	}
	return result
}

// celFields returns the paths of the fields that hold CEL, each of which is its own value in a
// full spec.
func celFields(fields []apiField) map[string]string {
	result := map[string]string{}
	for _, f := range fields {
		kind := f.value.Type()
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.String && (strings.HasSuffix(f.name, "Expression") || f.name == "Condition" || f.name == "Index") {
			result[f.path] = f.path
		}
	}
	return result
}

// A CEL field that is added to the API must become an expression of the anatomy.
func TestAllExpressionFields(t *testing.T) {
	t.Run("validating", func(t *testing.T) {
		spec, fields := full[v1.ValidatingAdmissionPolicySpec]()
		if diff := cmp.Diff(celFields(fields), sources(policyspec.Validating(spec))); diff != "" {
			t.Errorf("expressions differ (-API +anatomy):\n%s", diff)
		}
	})
	t.Run("mutating", func(t *testing.T) {
		spec, fields := full[v1.MutatingAdmissionPolicySpec]()
		// One mutation has one patch only.
		got := sources(policyspec.Mutating(spec))
		spec.Mutations[0].Expression = nil
		for _, patchType := range policyspec.PatchTypes(policyspec.Features{policyspec.InlineExpressions: true}) {
			spec.Mutations[0].PatchType = patchType
			maps.Copy(got, sources(policyspec.Mutating(spec)))
		}
		if diff := cmp.Diff(celFields(fields), got); diff != "" {
			t.Errorf("expressions differ (-API +anatomy):\n%s", diff)
		}
	})
}

// described is an expression in a form that is easy to compare.
type described struct {
	Role         policyspec.Role
	Path, Source string
	Index        int
	Name         string
	PatchType    v1.PatchType
	Returns      string
}

func describe(p *policyspec.Anatomy) []described {
	var result []described
	for i := range p.Expressions {
		e := &p.Expressions[i]
		var returns []string
		for _, r := range e.Returns() {
			returns = append(returns, r.String())
		}
		result = append(result, described{e.Role, e.Path.String(), e.Source, e.Index, e.Name, e.PatchType, strings.Join(returns, " ")})
	}
	return result
}

func TestExpressions(t *testing.T) {
	conditions := []v1.MatchCondition{{Name: "m", Expression: "1"}, {Name: "n", Expression: "2"}}
	variables := []v1.Variable{{Name: "x", Expression: "3"}, {Name: "y", Expression: "4"}}
	common := []described{
		{policyspec.MatchCondition, "spec.matchConditions[0].expression", "1", 0, "m", "", "bool"},
		{policyspec.MatchCondition, "spec.matchConditions[1].expression", "2", 1, "n", "", "bool"},
		{policyspec.Variable, "spec.variables[0].expression", "3", 0, "x", "", "google.protobuf.Any"},
		{policyspec.Variable, "spec.variables[1].expression", "4", 1, "y", "", "google.protobuf.Any"},
	}
	const inline = "JSONPatch list(JSONPatch) null_type bool"
	for name, test := range map[string]struct {
		policy *policyspec.Anatomy
		want   []described
	}{
		"validating, empty": {policyspec.Validating(&v1.ValidatingAdmissionPolicySpec{}), nil},
		"mutating, empty":   {policyspec.Mutating(&v1.MutatingAdmissionPolicySpec{}), nil},
		"validating": {
			policyspec.Validating(&v1.ValidatingAdmissionPolicySpec{
				AuditAnnotations: []v1.AuditAnnotation{{Key: "a", ValueExpression: "8"}},
				Validations:      []v1.Validation{{Expression: "5", Message: "no"}, {Expression: "6", MessageExpression: "7"}},
				Variables:        variables, MatchConditions: conditions,
			}),
			append(common[:4:4], []described{
				{policyspec.Validation, "spec.validations[0].expression", "5", 0, "", "", "bool"},
				{policyspec.Validation, "spec.validations[1].expression", "6", 1, "", "", "bool"},
				{policyspec.Message, "spec.validations[1].messageExpression", "7", 1, "", "", "string"},
				{policyspec.AuditAnnotation, "spec.auditAnnotations[0].valueExpression", "8", 0, "", "", "string null_type"},
			}...),
		},
		"mutating": {
			policyspec.Mutating(&v1.MutatingAdmissionPolicySpec{
				Mutations: []v1.Mutation{
					{PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: "5"}},
					{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: "7"}, Condition: new("6")},
					{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: "8"}},
					{PatchType: v1.PatchTypeStrategicMergePatch, StrategicMergePatch: &v1.StrategicMergePatch{Expression: "9"}},
					{Expression: new("11"), Condition: new("10")},
				},
				Variables: variables, MatchConditions: conditions,
			}),
			append(common[:4:4], []described{
				{policyspec.Patch, "spec.mutations[0].applyConfiguration.expression", "5", 0, "", v1.PatchTypeApplyConfiguration, "Object"},
				{policyspec.MutationCondition, "spec.mutations[1].condition", "6", 1, "", "", "bool"},
				{policyspec.Patch, "spec.mutations[1].jsonPatch.expression", "7", 1, "", v1.PatchTypeJSONPatch, "list(JSONPatch)"},
				{policyspec.Patch, "spec.mutations[2].jsonMergePatch.expression", "8", 2, "", v1.PatchTypeJSONMergePatch, "google.protobuf.Any"},
				{policyspec.Patch, "spec.mutations[3].strategicMergePatch.expression", "9", 3, "", v1.PatchTypeStrategicMergePatch, "google.protobuf.Any"},
				{policyspec.MutationCondition, "spec.mutations[4].condition", "10", 4, "", "", "bool"},
				{policyspec.Patch, "spec.mutations[4].expression", "11", 4, "", "", inline},
			}...),
		},
		"expression and patch": {
			policyspec.Mutating(&v1.MutatingAdmissionPolicySpec{Mutations: []v1.Mutation{{Expression: new("1"), PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: "2"}}}}),
			[]described{{policyspec.Patch, "spec.mutations[0].expression", "1", 0, "", "", inline}},
		},
		"patches of another type": {
			policyspec.Mutating(&v1.MutatingAdmissionPolicySpec{Mutations: []v1.Mutation{
				{PatchType: v1.PatchTypeApplyConfiguration, JSONPatch: &v1.JSONPatch{Expression: "1"}},
				{JSONPatch: &v1.JSONPatch{Expression: "1"}},
				{PatchType: v1.PatchTypeJSONPatch},
			}}),
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, describe(test.policy)); diff != "" {
				t.Errorf("expressions differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPolicy(t *testing.T) {
	constraints, kind := &v1.MatchResources{}, &v1.ParamKind{Kind: "Limit"}
	for name, test := range map[string]struct{ got, want *policyspec.Anatomy }{
		"validating": {
			policyspec.Validating(&v1.ValidatingAdmissionPolicySpec{
				FailurePolicy: new(v1.Ignore), ParamKind: kind, MatchConstraints: constraints,
				TypeChecking: new(v1.EnforcedTypeChecking), PolicyType: new(v1.SingletonPolicy),
			}),
			&policyspec.Anatomy{FailurePolicy: v1.Ignore, ParamKind: kind, MatchConstraints: constraints, TypeChecking: new(v1.EnforcedTypeChecking), Singleton: true},
		},
		"mutating": {
			policyspec.Mutating(&v1.MutatingAdmissionPolicySpec{
				FailurePolicy: new(v1.Ignore), ParamKind: kind, MatchConstraints: constraints, TypeChecking: new(v1.InformationalTypeChecking), PolicyType: new(v1.SingletonPolicy),
			}),
			&policyspec.Anatomy{FailurePolicy: v1.Ignore, ParamKind: kind, MatchConstraints: constraints, TypeChecking: new(v1.InformationalTypeChecking), Singleton: true, Mutates: true},
		},
		"validating, unset": {policyspec.Validating(&v1.ValidatingAdmissionPolicySpec{}), &policyspec.Anatomy{FailurePolicy: v1.Fail}},
		"mutating, unset":   {policyspec.Mutating(&v1.MutatingAdmissionPolicySpec{}), &policyspec.Anatomy{FailurePolicy: v1.Fail, Mutates: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Errorf("policies differ (-want +got):\n%s", diff)
			}
			if want := name == "validating"; test.got.Enforced() != want {
				t.Errorf("Enforced is %t, want %t", !want, want)
			}
		})
	}
}

func TestRoles(t *testing.T) {
	for name, test := range map[string]struct {
		role         policyspec.Role
		declarations expression.Declarations
		authorizer   bool
		namespace    policyspec.NamespaceFields
	}{
		"match condition":    {policyspec.MatchCondition, expression.Declarations{Authorizer: true}, true, policyspec.NoNamespace},
		"variable":           {policyspec.Variable, expression.Declarations{Authorizer: true}, true, policyspec.WholeNamespace},
		"validation":         {policyspec.Validation, expression.Declarations{Authorizer: true}, true, policyspec.DeclaredNamespace},
		"message":            {policyspec.Message, expression.Declarations{}, false, policyspec.DeclaredNamespace},
		"audit annotation":   {policyspec.AuditAnnotation, expression.Declarations{Authorizer: true}, false, policyspec.WholeNamespace},
		"mutation condition": {policyspec.MutationCondition, expression.Declarations{Authorizer: true}, true, policyspec.WholeNamespace},
		"patch":              {policyspec.Patch, expression.Declarations{Authorizer: true, Patches: true}, true, policyspec.WholeNamespace},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []*v1.ParamKind{nil, {Kind: "Limit"}} {
				want := test.declarations
				want.Params = kind != nil
				policy := &policyspec.Anatomy{ParamKind: kind}
				if got := policy.Declarations(&policyspec.Expression{Role: test.role}); got != want {
					t.Errorf("with paramKind %v, the declarations are %+v, want %+v", kind, got, want)
				}
			}
			if got := test.role.ReadsAuthorizer(); got != test.authorizer {
				t.Errorf("ReadsAuthorizer is %t", got)
			}
			if got := test.role.ReadsNamespace(); got != test.namespace {
				t.Errorf("ReadsNamespace is %v, want %v", got, test.namespace)
			}
		})
	}
}

func TestCheckType(t *testing.T) {
	const notAnObject = "must evaluate to Object or a map with keys of type string but got "
	for _, test := range []struct {
		patchType v1.PatchType
		output    *cel.Type
		want      string
	}{
		{v1.PatchTypeJSONMergePatch, policyspec.ObjectType, ""},
		{v1.PatchTypeJSONMergePatch, cel.MapType(cel.StringType, cel.DynType), ""},
		{v1.PatchTypeStrategicMergePatch, cel.MapType(cel.DynType, cel.IntType), ""},
		{v1.PatchTypeStrategicMergePatch, cel.MapType(cel.IntType, cel.IntType), notAnObject + "map(int, int)"},
		{v1.PatchTypeJSONMergePatch, cel.ListType(cel.StringType), notAnObject + "list(string)"},
		{v1.PatchTypeJSONMergePatch, cel.DynType, notAnObject + "dyn"},
		{v1.PatchTypeJSONPatch, cel.DynType, ""},
		{"", cel.BoolType, ""},
	} {
		got := ""
		if err := (&policyspec.Expression{Role: policyspec.Patch, PatchType: test.patchType}).CheckType(test.output); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%q of type %v: error is %q, want %q", test.patchType, test.output, got, test.want)
		}
	}
	if err := (&policyspec.Expression{Role: policyspec.MutationCondition, PatchType: v1.PatchTypeJSONMergePatch}).CheckType(cel.BoolType); err != nil {
		t.Errorf("a condition is checked as a patch: %v", err)
	}
}

func TestPatchTypes(t *testing.T) {
	stable := []v1.PatchType{v1.PatchTypeApplyConfiguration, v1.PatchTypeJSONPatch}
	all := []v1.PatchType{v1.PatchTypeApplyConfiguration, v1.PatchTypeJSONMergePatch, v1.PatchTypeJSONPatch, v1.PatchTypeStrategicMergePatch}
	for name, test := range map[string]struct {
		features policyspec.Features
		want     []v1.PatchType
	}{
		"none":    {nil, stable},
		"off":     {policyspec.Features{policyspec.InlineExpressions: false}, stable},
		"another": {policyspec.Features{policyspec.Singleton: true}, stable},
		"on":      {policyspec.Features{policyspec.InlineExpressions: true}, all},
	} {
		if diff := cmp.Diff(test.want, policyspec.PatchTypes(test.features)); diff != "" {
			t.Errorf("%s: patch types differ (-want +got):\n%s", name, diff)
		}
	}
	var fields []v1.PatchType
	for _, f := range policyspec.PatchFields(&v1.Mutation{}) {
		fields = append(fields, f.Type)
		if f.Expression != nil {
			t.Errorf("%s has an expression, although it is not set", f.Name)
		}
	}
	if len(fields) != len(all) {
		t.Errorf("patch fields are of types %v, want all of %v", fields, all)
	}
}

func TestSameTypes(t *testing.T) {
	spec := func(change func(*v1.MutatingAdmissionPolicySpec)) *policyspec.Anatomy {
		s := &v1.MutatingAdmissionPolicySpec{
			ParamKind:        &v1.ParamKind{APIVersion: "v1", Kind: "Limit"},
			MatchConstraints: &v1.MatchResources{MatchPolicy: new(v1.Exact)},
			TypeChecking:     new(v1.EnforcedTypeChecking),
			MatchConditions:  []v1.MatchCondition{{Name: "m", Expression: "1"}},
			Variables:        []v1.Variable{{Name: "x", Expression: "2"}},
			Mutations:        []v1.Mutation{{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: "3"}}},
		}
		change(s)
		return policyspec.Mutating(s)
	}
	for name, test := range map[string]struct {
		change func(*v1.MutatingAdmissionPolicySpec)
		want   bool
	}{
		"nothing":        {func(s *v1.MutatingAdmissionPolicySpec) {}, true},
		"failure policy": {func(s *v1.MutatingAdmissionPolicySpec) { s.FailurePolicy = new(v1.Ignore) }, true},
		"empty rules": {func(s *v1.MutatingAdmissionPolicySpec) {
			s.MatchConstraints.ResourceRules = []v1.NamedRuleWithOperations{}
		}, true},
		"name of match condition": {func(s *v1.MutatingAdmissionPolicySpec) { s.MatchConditions[0].Name = "n" }, true},
		"message":                 {func(s *v1.MutatingAdmissionPolicySpec) { s.Mutations[0].Message = new("no") }, true},
		"type checking":           {func(s *v1.MutatingAdmissionPolicySpec) { s.TypeChecking = nil }, false},
		"param kind":              {func(s *v1.MutatingAdmissionPolicySpec) { s.ParamKind.Kind = "Other" }, false},
		"no param kind":           {func(s *v1.MutatingAdmissionPolicySpec) { s.ParamKind = nil }, false},
		"match constraints":       {func(s *v1.MutatingAdmissionPolicySpec) { s.MatchConstraints.MatchPolicy = nil }, false},
		"match condition":         {func(s *v1.MutatingAdmissionPolicySpec) { s.MatchConditions[0].Expression = "4" }, false},
		"name of variable":        {func(s *v1.MutatingAdmissionPolicySpec) { s.Variables[0].Name = "y" }, false},
		"variable":                {func(s *v1.MutatingAdmissionPolicySpec) { s.Variables[0].Expression = "4" }, false},
		"patch":                   {func(s *v1.MutatingAdmissionPolicySpec) { s.Mutations[0].JSONMergePatch.Expression = "4" }, false},
		"patch type": {func(s *v1.MutatingAdmissionPolicySpec) {
			s.Mutations[0] = v1.Mutation{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: "3"}}
		}, false},
		"another mutation":  {func(s *v1.MutatingAdmissionPolicySpec) { s.Mutations = append(s.Mutations, s.Mutations[0]) }, false},
		"position of patch": {func(s *v1.MutatingAdmissionPolicySpec) { s.Mutations = append([]v1.Mutation{{}}, s.Mutations...) }, false},
		"condition for patch": {func(s *v1.MutatingAdmissionPolicySpec) {
			s.Mutations = []v1.Mutation{{Condition: new("3")}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			base, changed := spec(func(*v1.MutatingAdmissionPolicySpec) {}), spec(test.change)
			if base.SameTypes(changed) != test.want || changed.SameTypes(base) != test.want {
				t.Errorf("SameTypes is %t, want %t", !test.want, test.want)
			}
		})
	}
}

func TestHasAndSources(t *testing.T) {
	p := policyspec.Validating(&v1.ValidatingAdmissionPolicySpec{
		Validations: []v1.Validation{{Expression: "a"}, {Expression: "b", MessageExpression: "a"}},
	})
	if diff := cmp.Diff(map[string]bool{"a": true, "b": true}, p.Sources()); diff != "" {
		t.Errorf("sources differ (-want +got):\n%s", diff)
	}
	for role, want := range map[policyspec.Role]bool{policyspec.Validation: true, policyspec.Message: true, policyspec.Variable: false, policyspec.MatchCondition: false} {
		if p.Has(role) != want {
			t.Errorf("Has(%v) is %t, want %t", role, !want, want)
		}
	}
}

func TestPredicates(t *testing.T) {
	for name, test := range map[string]struct{ got, want bool }{
		"singleton":             {policyspec.IsSingleton(new(v1.SingletonPolicy)), true},
		"no policy type":        {policyspec.IsSingleton(nil), false},
		"another policy type":   {policyspec.IsSingleton(new(v1.PolicyType("Other"))), false},
		"enforced":              {policyspec.IsEnforced(new(v1.EnforcedTypeChecking)), true},
		"informational":         {policyspec.IsEnforced(new(v1.InformationalTypeChecking)), false},
		"no type checking mode": {policyspec.IsEnforced(nil), false},
		"fallback":              {policyspec.IsFallback(new(v1.FallbackBinding)), true},
		"no binding type":       {policyspec.IsFallback(nil), false},
		"another binding type":  {policyspec.IsFallback(new(v1.BindingType("Other"))), false},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %t", name, test.got)
		}
	}
}
