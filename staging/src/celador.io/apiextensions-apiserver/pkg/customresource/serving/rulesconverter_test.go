// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstreamconversion "k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/webhook"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
	"celador.io/apiextensions-apiserver/pkg/features"
)

var (
	v1Version = schema.GroupVersion{Group: "example.com", Version: "v1"}
	v2Version = schema.GroupVersion{Group: "example.com", Version: "v2"}
)

// rename moves spec.old of v1 to spec.new of v2. It fails for objects without spec.old, and leaves
// spec.old, which v2 does not specify, in place.
type rename struct{ objectConverter }

func (rename) Convert(_ context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	value, ok, _ := unstructured.NestedFieldNoCopy(in.Object, "spec", "old")
	if !ok {
		return nil, &conversion.Error{
			Reason: conversion.ReasonEvaluation, Kind: in.GetKind(), Namespace: in.GetNamespace(), Name: in.GetName(),
			From: "v1", To: toVersion, Rule: &conversion.RuleID{Field: "spec.new"}, Err: errors.New("no such key: old"),
		}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + toVersion, "kind": in.GetKind(), "metadata": in.Object["metadata"],
		"spec": map[string]any{"old": value, "new": value},
	}}, nil
}

func (r rename) ConvertPartial(ctx context.Context, in, _ *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	return r.Convert(ctx, in, toVersion)
}

// newRules returns the converters of widgets whose objects the converter converts.
func newRules(t *testing.T, rules objectConverter) converters {
	t.Helper()
	crd := crdtest.New(
		crdtest.Stored(crdtest.WithSubresources(crdtest.Version("v1", map[string]apiextensionsv1.JSONSchemaProps{"old": {Type: "string"}}))),
		crdtest.Version("v2", map[string]apiextensionsv1.JSONSchemaProps{"new": {Type: "string"}}))
	crd.Spec.Conversion.Strategy = "ConversionRules"
	crd.Spec.Versions[0].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".spec.old"}}
	s, err := schemas.New(crd, nil)
	if err != nil {
		t.Fatal(err)
	}
	factory, err := upstreamconversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(),
		func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r })
	if err != nil {
		t.Fatal(err)
	}
	c, err := (&Builder{Converters: factory}).converters(crd, &apiextensions.ExpressionFields{ConversionRules: true}, s)
	if err != nil {
		t.Fatal(err)
	}
	if rules != nil {
		c.unsafe.(*rulesConverter).uncoerced = rules
		c.safe.(*rulesConverter).uncoerced = rules
	}
	return c
}

func newWidget(version, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version, "kind": "Widget",
		"metadata": map[string]any{"namespace": "default", "name": name}, "spec": spec,
	}}
}

func listOf(version string, items ...*unstructured.Unstructured) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{}, Object: map[string]any{"apiVersion": "example.com/" + version, "kind": "WidgetList", "metadata": map[string]any{"resourceVersion": "7"}}}
	for _, item := range items {
		list.Items = append(list.Items, *item)
	}
	return list
}

func TestRulesConverter(t *testing.T) {
	old := map[string]any{"old": "a"}
	renamed := map[string]any{"new": "a"}
	table := []struct {
		name     string
		in, want runtime.Object
		to       schema.GroupVersion
		err      string
	}{
		{name: "one", in: newWidget("v1", "w", old), to: v2Version, want: newWidget("v2", "w", renamed)},
		{name: "the same version", in: newWidget("v2", "w", nil), to: v2Version, want: newWidget("v2", "w", nil)},
		{name: "a kind alone",
			in: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}, to: v2Version,
			want: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v2", "kind": "Widget"}}},
		{name: "failure", in: newWidget("v1", "w", nil), to: v2Version, err: `cannot convert Widget "default/w" from v1 to v2: `},
		{name: "list", to: v2Version,
			in:   listOf("v1", newWidget("v1", "a", old), newWidget("v2", "b", nil), newWidget("v1", "c", old)),
			want: listOf("v2", newWidget("v2", "a", renamed), newWidget("v2", "b", nil), newWidget("v2", "c", renamed))},
		{name: "empty list", in: listOf("v1"), to: v2Version, want: listOf("v2")},
		{name: "failure in a list", in: listOf("v1", newWidget("v1", "a", old), newWidget("v1", "b", nil)), to: v2Version, err: `cannot convert Widget "default/b" from v1 to v2: `},
		{name: "unknown version of an item", in: listOf("v1", newWidget("v3", "a", old)), to: v2Version, err: "list index 0 has invalid group/version: example.com/v3"},
		{name: "to an unknown version", in: newWidget("v1", "w", old), to: schema.GroupVersion{Group: "example.com", Version: "v3"}, err: "request to convert CR to an invalid group/version: example.com/v3"},
		{name: "to another group", in: newWidget("v1", "w", old), to: schema.GroupVersion{Group: "example.org", Version: "v2"}, err: "not suitable for converting"},
		{name: "from an unknown version", in: newWidget("v3", "w", old), to: v2Version, err: "request to convert CR from an invalid group/version: example.com/v3"},
		{name: "Scale", in: &autoscalingv1.Scale{TypeMeta: metav1.TypeMeta{Kind: "Scale", APIVersion: "autoscaling/v1"}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}, to: autoscalingv1.SchemeGroupVersion,
			want: &autoscalingv1.Scale{TypeMeta: metav1.TypeMeta{Kind: "Scale", APIVersion: "autoscaling/v1"}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}},
	}
	c := newRules(t, rename{})
	for _, test := range table {
		for name, converter := range map[string]runtime.ObjectConvertor{"safe": c.safe, "unsafe": c.unsafe} {
			t.Run(test.name+" "+name, func(t *testing.T) {
				in := test.in.DeepCopyObject()
				got, err := converter.ConvertToVersion(in, test.to)
				checkConversion(t, test.want, got, test.err, err)
				if name != "safe" || err != nil {
					return
				}
				if u, ok := got.(*unstructured.Unstructured); ok {
					u.SetLabels(map[string]string{"changed": "yes"})
				}
				if diff := cmp.Diff(test.in, in); diff != "" {
					t.Errorf("the input was changed (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// checkConversion compares the result of a conversion. message is part of the error, or empty.
func checkConversion(t *testing.T, want, got runtime.Object, message string, err error) {
	t.Helper()
	if message != "" {
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("got error %v, want one with %q", err, message)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conversions differ (-want +got):\n%s", diff)
	}
}

func TestRulesConverterInto(t *testing.T) {
	c := newRules(t, rename{})
	in, out := newWidget("v1", "w", map[string]any{"old": "a"}), newWidget("v2", "", nil)
	before := in.DeepCopy()
	if err := c.safe.Convert(in, out, nil); err != nil {
		t.Fatal(err)
	}
	checkConversion(t, newWidget("v2", "w", map[string]any{"new": "a"}), out, "", nil)
	checkConversion(t, before, in, "", nil)
	if err := c.safe.Convert(in, &metav1.Status{}, nil); err == nil {
		t.Error("a custom resource was converted into a Status")
	}
	scale := &autoscalingv1.Scale{}
	if err := c.safe.Convert(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}, scale, nil); err != nil || scale.Spec.Replicas != 3 {
		t.Errorf("got %v, %v, want 3 replicas", scale, err)
	}
}

func TestRulesConverterLabels(t *testing.T) {
	c := newRules(t, rename{})
	for field, want := range map[string]bool{"metadata.name": true, "metadata.namespace": true, "spec.old": true, "spec.new": false} {
		_, _, err := c.safe.ConvertFieldLabel(v1Version.WithKind("Widget"), field, "x")
		if (err == nil) != want {
			t.Errorf("%s: got error %v, want support: %t", field, err, want)
		}
	}
}

// TestConversionStatus covers what clients and the audit log see of a failure, and its metric.
func TestConversionStatus(t *testing.T) {
	legacyregistry.Reset()
	c := newRules(t, rename{})
	_, err := c.safe.ConvertToVersion(newWidget("v1", "w", nil), v2Version)
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("got %T, want an API error", err)
	}
	want := metav1.Status{
		Status: "Failure", Code: 500, Reason: metav1.StatusReasonInternalError,
		Message: `cannot convert Widget "default/w" from v1 to v2: spec.conversion.converters[0].rules[0] (field "spec.new"): no such key: old`,
		Details: &metav1.StatusDetails{Name: "w", Group: "example.com", Kind: "Widget", Causes: []metav1.StatusCause{
			{Type: "ConversionFailed", Field: `spec.conversion.converters[0].rules[0] (field "spec.new")`, Message: "no such key: old"}}},
	}
	if diff := cmp.Diff(want, status.ErrStatus); diff != "" {
		t.Errorf("status differs (-want +got):\n%s", diff)
	}
	if err := testutil.GatherAndCompare(legacyregistry.DefaultGatherer, strings.NewReader(`
# HELP celador_crd_conversion_errors_total [ALPHA] Custom resources that conversion rules did not convert, by CustomResourceDefinition, versions and reason.
# TYPE celador_crd_conversion_errors_total counter
celador_crd_conversion_errors_total{crd="widgets.example.com",from_version="v1",reason="evaluation",to_version="v2"} 1
`), "celador_crd_conversion_errors_total"); err != nil {
		t.Error(err)
	}
	testutil.AssertHistogramTotalCount(t, "celador_crd_conversion_duration_seconds", map[string]string{"from_version": "v1", "to_version": "v2", "succeeded": "false"}, 1)

	observeConversion("others.example.com", "v1", "v2", 0, err)
	DeleteMetrics("widgets.example.com")
	if err := testutil.GatherAndCompare(legacyregistry.DefaultGatherer, strings.NewReader(`
# HELP celador_crd_conversion_errors_total [ALPHA] Custom resources that conversion rules did not convert, by CustomResourceDefinition, versions and reason.
# TYPE celador_crd_conversion_errors_total counter
celador_crd_conversion_errors_total{crd="others.example.com",from_version="v1",reason="metadata",to_version="v2"} 1
`), "celador_crd_conversion_errors_total"); err != nil {
		t.Error(err)
	}
	testutil.AssertHistogramTotalCount(t, "celador_crd_conversion_duration_seconds", map[string]string{"crd": "others.example.com"}, 1)
	testutil.AssertHistogramTotalCount(t, "celador_crd_conversion_duration_seconds", map[string]string{"from_version": "v1"}, 1)
}

// TestNoRules covers a server that cannot use the rules: it neither converts nor takes an object
// for one of another version.
func TestNoRules(t *testing.T) {
	for name, test := range map[string]struct {
		gate bool
		want string
	}{
		"gate off":               {want: "the feature gate CustomResourceConversionRules is off"},
		"no converter of a pair": {gate: true, want: `cannot convert Widget "default/w" from v1 to v2: `},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, test.gate)
			c := newRules(t, nil)
			for converter, converts := range map[string]runtime.ObjectConvertor{"safe": c.safe, "unsafe": c.unsafe, "encoding": c.encoding, "decoding": c.decoding} {
				_, err := converts.ConvertToVersion(newWidget("v1", "w", nil), v2Version)
				checkConversion(t, nil, nil, test.want, err)
				if err == nil {
					t.Errorf("the %s converter has converted", converter)
				}
				got, err := converts.ConvertToVersion(newWidget("v1", "w", nil), v1Version)
				checkConversion(t, newWidget("v1", "w", nil), got, "", err)
			}
		})
	}
}
