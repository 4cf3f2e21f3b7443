// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"math"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func jsonMerge(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: expression}}
}

func strategic(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeStrategicMergePatch, StrategicMergePatch: &v1.StrategicMergePatch{Expression: expression}}
}

// A JSON merge patch sets fields, removes null fields and replaces lists. A strategic merge patch
// merges lists by their keys.
func TestMergePatches(t *testing.T) {
	web, proxy := corev1.Container{Name: "web", Image: "web:1", Args: []string{"a"}}, corev1.Container{Name: "proxy", Image: "proxy:1"}
	newer := web
	newer.Image = "web:2"
	for name, test := range map[string]struct {
		mutation v1.Mutation
		want     func(*corev1.Pod)
		fails    string
	}{
		"JSON, nothing":                {mutation: jsonMerge(`{}`)},
		"JSON, sets":                   {mutation: jsonMerge(`{"metadata": {"labels": {"a": object.metadata.name}}}`), want: func(p *corev1.Pod) { p.Labels = map[string]string{"app": "web", "a": "subject"} }},
		"JSON, removes":                {mutation: jsonMerge(`{"metadata": {"labels": null}}`), want: func(p *corev1.Pod) { p.Labels = nil }},
		"JSON, lists":                  {mutation: jsonMerge(`Object{spec: Object.spec{containers: [Object.spec.containers{name: "new", image: "new:1"}]}}`), want: func(p *corev1.Pod) { p.Spec.Containers = []corev1.Container{{Name: "new", Image: "new:1"}} }},
		"JSON, null in an object":      {mutation: jsonMerge(`Object{metadata: Object.metadata{labels: null}}`), want: func(p *corev1.Pod) { p.Labels = nil }},
		"JSON, null of a number":       {mutation: jsonMerge(`Object{spec: Object.spec{priority: null}}`), want: func(p *corev1.Pod) { p.Spec.Priority = nil }},
		"JSON, null in a list":         {mutation: jsonMerge(`Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, image: c.image, args: null})}}`), want: func(p *corev1.Pod) { p.Spec.Containers[0].Args = nil }},
		"strategic, null in an object": {mutation: strategic(`Object{spec: Object.spec{priority: null}}`), want: func(p *corev1.Pod) { p.Spec.Priority = nil }},
		"JSON, joined lists":           {mutation: jsonMerge(`{"spec": {"containers": object.spec.containers.filter(c, c.name == "proxy") + object.spec.containers.filter(c, c.name == "web")}}`), want: func(p *corev1.Pod) { p.Spec.Containers = []corev1.Container{proxy, web} }},
		"not JSON":                     {mutation: jsonMerge(`Object{spec: Object.spec{hostname: duration("1h")}}`), fails: `field "spec": field "hostname": a value of type time.Duration has no JSON`},
		"strategic, adds":              {mutation: strategic(`{"spec": {"containers": [{"name": "new", "image": "new:1"}]}}`), want: func(p *corev1.Pod) { p.Spec.Containers = []corev1.Container{{Name: "new", Image: "new:1"}, web, proxy} }},
		"strategic, merges":            {mutation: strategic(`Object{spec: Object.spec{containers: [Object.spec.containers{name: "web", image: "web:2"}]}}`), want: func(p *corev1.Pod) { p.Spec.Containers = []corev1.Container{newer, proxy} }},
		"strategic, deletes":           {mutation: strategic(`{"spec": {"containers": [{"name": "proxy", "$patch": "delete"}]}}`), want: func(p *corev1.Pod) { p.Spec.Containers = []corev1.Container{web} }},
		"wrong type names":             {mutation: jsonMerge(`Object{spec: Object.metadata{}}`), fails: `type mismatch: unexpected type name "Object.metadata", expected "Object.spec", which matches field name path from root Object type`},
		"unknown field":                {mutation: jsonMerge(`{"spec": {"colour": "red"}}`), fails: `patched object is not valid: strict decoding error: unknown field "spec.colour"`},
		"another name":                 {mutation: strategic(`{"metadata": {"name": "other"}}`), fails: `may not change metadata.name from "subject" to "other"`},
		"another namespace":            {mutation: jsonMerge(`{"metadata": {"namespace": "other"}}`), fails: `may not change metadata.namespace from "test" to "other"`},
		"another kind":                 {mutation: jsonMerge(`{"kind": "ConfigMap"}`), fails: `may not change apiVersion and kind from /v1, Kind=Pod to /v1, Kind=ConfigMap`},
		"another version":              {mutation: jsonMerge(`{"apiVersion": "v2"}`), fails: `may not change apiVersion and kind from /v1, Kind=Pod to /v2, Kind=Pod`},
	} {
		t.Run(name, func(t *testing.T) {
			object := pod(web, proxy)
			object.Labels, object.Spec.Priority = map[string]string{"app": "web"}, new(int32(7))
			want := object.DeepCopy()
			if test.want != nil {
				test.want(want)
			}
			result, err := create(on, object, policytest.Mutating("p", test.mutation)).mutate(t)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, object); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
			if test.fails == "" && len(result.Failures) == 0 {
				return
			}
			if diff := cmp.Diff(failure(test.fails, metav1.StatusReasonInvalid, false), result.Failures); diff != "" {
				t.Errorf("failures (-want +got):\n%s", diff)
			}
		})
	}
}

// Custom resources support JSON merge patches and reject strategic merge patches.
func TestMergePatchesOfCustomResources(t *testing.T) {
	object := widget(map[string]any{"size": int64(1), "colour": "red"})
	result, err := create(on, object, policytest.Mutating("p", jsonMerge(`{"spec": {"size": dyn(2), "colour": dyn(null)}}`), strategic(`{"spec": {"size": 3}}`))).mutate(t)
	if err != nil {
		t.Fatal(err)
	}
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	if diff := cmp.Diff(map[string]any{"size": int64(2)}, spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	want := failure("error applying patch: example.com/v1, Kind=Widget is not built in: custom resources have no strategic merge patch, use JSONMergePatch or ApplyConfiguration",
		metav1.StatusReasonInvalid, false)
	if diff := cmp.Diff(want, result.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

// An object that has no JSON cannot be patched. The error says which patch was not made.
func TestPatchesOfObjectsWithoutJSON(t *testing.T) {
	for kind, mutation := range map[string]v1.Mutation{
		"JSON patch":  jsonPatch(`[JSONPatch{op: "add", path: "/spec/size", value: 1}]`),
		"merge patch": jsonMerge(`{"spec": {"size": 1}}`),
	} {
		result, err := create(on, widget(map[string]any{"ratio": math.NaN()}), policytest.Mutating("p", mutation)).mutate(t)
		if err != nil {
			t.Fatal(err)
		}
		want := failure("failed to create "+kind+": json: error calling MarshalJSON for type *unstructured.Unstructured: json: unsupported value: NaN", metav1.StatusReasonInvalid, false)
		if diff := cmp.Diff(want, result.Failures); diff != "" {
			t.Errorf("%s: failures (-want +got):\n%s", kind, diff)
		}
	}
}
