// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/mutating"
)

// widgetVersions are the interfaces of a CustomResourceDefinition with the versions v1 and v2 of
// Widget, and with a default for spec.parts[].weight.
type widgetVersions struct{ objectInterfaces }

func (w widgetVersions) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper {
	registry := runtime.NewEquivalentResourceRegistry()
	for _, version := range []string{"v1", "v2"} {
		group := schema.GroupVersion{Group: "example.com", Version: version}
		registry.RegisterKindFor(group.WithResource("widgets"), "", group.WithKind("Widget"))
	}
	return registry
}

func (w widgetVersions) GetObjectConvertor() runtime.ObjectConvertor {
	return widgetConverter{w.converter}
}

func (w widgetVersions) GetObjectCreater() runtime.ObjectCreater { return widgetCreater{} }

func (w widgetVersions) GetObjectDefaulter() runtime.ObjectDefaulter { return widgetDefaulter{} }

type widgetCreater struct{}

func (widgetCreater) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	created := &unstructured.Unstructured{}
	created.SetGroupVersionKind(kind)
	return created, nil
}

type widgetDefaulter struct{}

func (widgetDefaulter) Default(in runtime.Object) {
	spec, _ := in.(*unstructured.Unstructured).Object["spec"].(map[string]any)
	parts, _ := spec["parts"].([]any)
	for _, part := range parts {
		if part := part.(map[string]any); part["weight"] == nil {
			part["weight"] = int64(1)
		}
	}
}

// widgetConverter changes the apiVersion only.
type widgetConverter struct{ converter }

func (c widgetConverter) Convert(in, out, _ any) error {
	from, to := in.(*unstructured.Unstructured), out.(*unstructured.Unstructured)
	kind := to.GroupVersionKind()
	to.Object = from.DeepCopy().Object
	to.SetGroupVersionKind(kind)
	return nil
}

// ofVersion makes a policy match Widgets in one version, and requests in the other as well.
func ofVersion(version string, p *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicy {
	p.Spec.MatchConstraints.ResourceRules = []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.OperationAll},
		Rule:       v1.Rule{APIGroups: []string{"example.com"}, APIVersions: []string{version}, Resources: []string{"widgets"}},
	}}}
	p.Spec.MatchConstraints.MatchPolicy = new(v1.Equivalent)
	return p
}

func (s subject) mutateWidget(t *testing.T) mutating.Result {
	t.Helper()
	result, err := s.engine.Mutate(t.Context(), s.Attributes, widgetVersions{interfaces.(objectInterfaces)}, mutating.Options{Changes: true}, s.snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// If failurePolicy ignores that mutations of several versions do not settle, a custom resource is as
// it was before the additional rounds, whatever version the last of the policies has.
func TestIgnoredUnsettledVersions(t *testing.T) {
	longer := `[JSONPatch{op: "add", path: "/spec/a", value: object.spec.a + "x"}]`
	for _, last := range []string{"v1", "v2"} {
		t.Run(last, func(t *testing.T) {
			object := widget(map[string]any{"a": ""})
			s := create(on, object,
				ofVersion("v1", ignoring(ifNeeded(policytest.Mutating("p", policytest.JSONPatch(longer))))),
				ofVersion("v2", ignoring(ifNeeded(policytest.Mutating("q", policytest.JSONPatch(longer))))),
				ofVersion(last, policytest.Mutating("r", policytest.JSONPatch(`[JSONPatch{op: "add", path: "/spec/b", value: "x"}]`))))
			s.mutateWidget(t)
			s.GetReinvocationContext().SetIsReinvoke()
			if result := s.mutateWidget(t); len(result.Failures) != 2 {
				t.Errorf("got failures %v, want two that are ignored", result.Failures)
			}
			want := widget(map[string]any{"a": "xxxx", "b": "x"})
			if diff := cmp.Diff(want, object); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

// An apply configuration of a custom resource whose only effect is that an item gets its default is
// reported like one of a JSON patch.
func TestDefaultsOfAppliedConfigurations(t *testing.T) {
	for name, mutation := range map[string]v1.Mutation{
		"apply configuration": policytest.ApplyConfiguration(`Object{spec: Object.spec{a: "x"}}`),
		"JSON patch":          policytest.JSONPatch(`[JSONPatch{op: "add", path: "/spec/a", value: "x"}]`),
	} {
		t.Run(name, func(t *testing.T) {
			object := widget(map[string]any{"a": "x", "parts": []any{map[string]any{"name": "one"}}})
			result := create(on, object, ofVersion("v1", policytest.Mutating("p", mutation))).mutateWidget(t)
			if len(result.Failures) > 0 || len(result.Mutations) != 1 || !result.Mutations[0].Changed {
				t.Errorf("got failures %v, mutations %v, want a change", result.Failures, result.Mutations)
			}
			want := widget(map[string]any{"a": "x", "parts": []any{map[string]any{"name": "one", "weight": int64(1)}}})
			if diff := cmp.Diff(want, object); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}
