// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"errors"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/typecheck"
)

func enforced(s *v1.ValidatingAdmissionPolicySpec) { s.TypeChecking = new(v1.EnforcedTypeChecking) }

// Enforced policies read only metadata, and fields that has() guards, of objects whose types are
// not known.
func TestWildcards(t *testing.T) {
	namespace := corev1.SchemeGroupVersion.WithKind("Namespace")
	described := builtIn.with(namespace, schemaOf(corev1.Namespace{}))
	everything, first := rule("*", "*", "*"), "spec.validations[0].expression"
	const behind = `types behind "*", of which only metadata is known: ERROR: `
	for name, test := range map[string]struct {
		schemas schemas
		policy  *v1.ValidatingAdmissionPolicy
		field   string
		want    string // the first line of the only error
	}{
		"metadata":             {described, policy("object.metadata.labels.size() < 5 && object.kind != ''", everything, enforced), first, ""},
		"no spec":              {described, policy("object.spec.replicas < 5", everything, enforced), first, behind + "<input>:1:7: undefined field 'spec'"},
		"no such metadata":     {described, policy("object.metadata.lables.size() < 5", everything, enforced), first, behind + "<input>:1:16: undefined field 'lables'"},
		"any metadata":         {builtIn, policy("object.metadata.lables.size() < 5", everything, enforced), first, ""},
		"no spec, any":         {builtIn, policy("object.spec.replicas < 5", everything, enforced), first, behind + "<input>:1:7: undefined field 'spec'"},
		"guarded":              {described, policy("!has(object.spec) || !has(object.spec.replicas) || object.spec.replicas < 5", everything, enforced), first, ""},
		"guarded by condition": {described, policy("object.spec.replicas < 5", everything, enforced, condition("has(object.spec)")), first, ""},
		"guarded below only":   {described, policy("!has(object.spec.replicas)", everything, enforced), first, behind + "<input>:1:12: undefined field 'spec'"},
		"old object":           {described, policy("oldObject.data == object.metadata.name", everything, enforced), first, behind + "<input>:1:10: undefined field 'data'"},
		"group":                {described, policy("object.spec.replicas < 5", rule("*", "v1", "deployments"), enforced), first, behind + "<input>:1:7: undefined field 'spec'"},
		"version":              {described, policy("object.spec.replicas < 5", rule("apps", "*", "deployments"), enforced), first, behind + "<input>:1:7: undefined field 'spec'"},
		"known type besides":   {described, policy("object.spec.replicas < 5", rule("apps", "v1", "deployments"), everything, enforced), first, behind + "<input>:1:7: undefined field 'spec'"},
		"wrong for both": {described, policy("object.x == 1", rule("apps", "v1", "deployments"), everything, enforced), first,
			"apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'x'"},
		"variable": {described, policy("variables.replicas < 5", everything, enforced, variables("replicas", "object.spec.replicas")), "spec.variables[0].expression",
			behind + "<input>:1:7: undefined field 'spec'"},
		"informational": {described, policy("object.spec.replicas < 5", everything), first, ""},
		"no wildcard":   {described, policy("object.spec.replicas < 5", enforced), first, ""},
	} {
		t.Run(name, func(t *testing.T) {
			result := checker(t, mapperFor(deployment), test.schemas).CheckValidating(test.policy)
			expectEnforced(t, result, test.field, test.want)
			for _, f := range result.Findings {
				if f.Type != deployment {
					t.Errorf("found %v, which the status would have", f)
				}
			}
		})
	}
	apply := func(expression string) *v1.MutatingAdmissionPolicy {
		p := mutatingPolicy([]v1.Mutation{{PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: expression}}}, everything)
		p.Spec.TypeChecking = new(v1.EnforcedTypeChecking)
		return p
	}
	const patch = "spec.mutations[0].applyConfiguration.expression"
	c := checker(t, mapperFor(deployment), described)
	expectEnforced(t, c.CheckMutating(apply(`Object{metadata: Object.metadata{labels: {"a": "b"}}}`)), patch, "")
	expectEnforced(t, c.CheckMutating(apply("Object{spec: Object.spec{replicas: 5}}")), patch, behind+"<input>:1:12: undefined field 'spec'")
}

// expectEnforced checks the only error of an Enforced policy, up to its first line, if there is to
// be one.
func expectEnforced(t *testing.T, result *typecheck.Result, field, want string) {
	t.Helper()
	errs := result.FieldErrors()
	if (result.Err() == nil) != (want == "") {
		t.Errorf("the verdict is %v, want %q", result.Err(), want)
	}
	if want == "" && len(errs) == 0 {
		return
	}
	if len(errs) != 1 {
		t.Fatalf("got errors %v, want %q", errs, want)
	}
	if got, _, _ := strings.Cut(errs[0].Detail, "\n"); errs[0].Field != field || got != want {
		t.Errorf("got error of %s: %s\nwant %s: %s", errs[0].Field, got, field, want)
	}
}

// unresolvable fails for the schema of Namespace.
type unresolvable struct {
	schemas
	err error
}

func (u unresolvable) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	if kind.Kind == "Namespace" {
		return nil, u.err
	}
	return u.schemas.ResolveSchema(kind)
}

// The fields of metadata are not checked without the schema of Namespace. If the schema exists and
// is only not available, the result says that another check may find more.
func TestWildcardsWithoutNamespace(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want []typecheck.Reason
	}{
		"not found":     {resolver.ErrSchemaNotFound, []typecheck.Reason{typecheck.Wildcard}},
		"not available": {errors.New("timeout"), []typecheck.Reason{typecheck.Wildcard, typecheck.Unavailable}},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy("object.metadata.lables.size() < 5 && object.spec == null", rule("*", "*", "*"), enforced)
			result := checker(t, mapperFor(deployment), unresolvable{builtIn, test.err}).CheckValidating(p)
			expectEnforced(t, result, "spec.validations[0].expression", `types behind "*", of which only metadata is known: ERROR: <input>:1:44: undefined field 'spec'`)
			var got []typecheck.Reason
			for _, u := range result.Unchecked {
				got = append(got, u.Reason)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}
