// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/api/admissionregistration/v1alpha1"
	"celador.io/api/admissionregistration/v1beta1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
	applyv1 "celador.io/client-go/applyconfigurations/admissionregistration/v1"
	applyv1alpha1 "celador.io/client-go/applyconfigurations/admissionregistration/v1alpha1"
	applyv1beta1 "celador.io/client-go/applyconfigurations/admissionregistration/v1beta1"
)

var (
	versions   = []schema.GroupVersion{v1.SchemeGroupVersion, v1beta1.SchemeGroupVersion, v1alpha1.SchemeGroupVersion}
	mediaTypes = []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR}
)

// policy, binding, mutatingPolicy and mutatingBinding set every field that Kubernetes does not have.
func policy() *admissionregistration.ValidatingAdmissionPolicy {
	return &admissionregistration.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec: v1.ValidatingAdmissionPolicySpec{
			PolicyType:    new(v1.SingletonPolicy),
			TypeChecking:  new(v1.EnforcedTypeChecking),
			FailurePolicy: new(v1.Fail),
			Validations:   []v1.Validation{{Expression: "true", FailurePolicy: new(v1.Ignore), Scope: &v1.ScopedValues{Type: "io.k8s.api.core.v1.Container"}}, {Expression: "false", Scope: &v1.ScopedValues{Path: "spec.rules[*].host"}}, {Expression: "false", FieldPath: new("spec.replicas")}},
			Lookups:       lookups(),
		},
		Status: v1.ValidatingAdmissionPolicyStatus{ObservedGeneration: 2, ObservedCustomResources: observed()},
	}
}

func lookups() []v1.Lookup {
	return []v1.Lookup{
		{Name: "ingresses", APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Scope: new(v1.ClusterLookupScope), Index: new("item.metadata.name"), Consistency: new(v1.LatestLookupConsistency)},
		{Name: "services", APIVersion: "v1", Kind: "Service"},
	}
}

func observed() []v1.ObservedCustomResource {
	return []v1.ObservedCustomResource{
		{Group: "rules.example.com", Version: "v1", Kind: "Limit", Generation: 3, UID: "c0ffee"},
		{Group: "rules.example.com", Version: "v1", Kind: "Quota"},
	}
}

func binding() *admissionregistration.ValidatingAdmissionPolicyBinding {
	return &admissionregistration.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "demo", BindingType: new(v1.FallbackBinding)},
	}
}

func mutatingBinding() *admissionregistration.MutatingAdmissionPolicyBinding {
	return &admissionregistration.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec:       v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "demo", BindingType: new(v1.FallbackBinding)},
	}
}

func mutatingPolicy() *admissionregistration.MutatingAdmissionPolicy {
	return &admissionregistration.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec: v1.MutatingAdmissionPolicySpec{
			PolicyType:         new(v1.SingletonPolicy),
			TypeChecking:       new(v1.EnforcedTypeChecking),
			Lookups:            lookups(),
			FailurePolicy:      new(v1.Fail),
			ReinvocationPolicy: v1.IfNeededReinvocationPolicy,
			Mutations: []v1.Mutation{
				{
					Expression: new("null"), Condition: new("true"), Message: new("too many"), Reason: new(metav1.StatusReasonForbidden),
					ReinvocationPolicy: new(v1.NeverReinvocationPolicy),
				},
				{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: "{}"}},
				{PatchType: v1.PatchTypeStrategicMergePatch, StrategicMergePatch: &v1.StrategicMergePatch{Expression: "Object{}"}},
				{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: "[JSONPatch{}]"}, Condition: new("")},
			},
		},
		Status: v1.MutatingAdmissionPolicyStatus{
			ObservedGeneration: 2,
			TypeChecking:       &v1.TypeChecking{ExpressionWarnings: []v1.ExpressionWarning{{FieldRef: "spec.mutations[0].expression", Warning: "no such field"}}},
			Conditions: []metav1.Condition{{
				Type: v1.PolicyConditionAvailable, Status: metav1.ConditionTrue, ObservedGeneration: 2, Reason: "Checked", Message: "fine",
				LastTransitionTime: metav1.Unix(1, 0),
			}},
			ObservedCustomResources: observed(),
		},
	}
}

func bareMutatingPolicy() *admissionregistration.MutatingAdmissionPolicy {
	bare := mutatingPolicy()
	for i, m := range bare.Spec.Mutations {
		bare.Spec.Mutations[i] = v1.Mutation{PatchType: m.PatchType, JSONPatch: m.JSONPatch}
	}
	bare.Spec.PolicyType, bare.Spec.TypeChecking = nil, nil
	bare.Status = v1.MutatingAdmissionPolicyStatus{}
	return bare
}

func barePolicy() *admissionregistration.ValidatingAdmissionPolicy {
	bare := policy()
	bare.Spec.PolicyType, bare.Spec.TypeChecking, bare.Spec.Validations[0].FailurePolicy = nil, nil, nil
	bare.Spec.Validations[0].Scope, bare.Spec.Validations[1].Scope = nil, nil
	bare.Status.ObservedCustomResources = nil
	return bare
}

func bareBinding() *admissionregistration.ValidatingAdmissionPolicyBinding {
	bare := binding()
	bare.Spec.BindingType = nil
	return bare
}

func bareMutatingBinding() *admissionregistration.MutatingAdmissionPolicyBinding {
	bare := mutatingBinding()
	bare.Spec.BindingType = nil
	return bare
}

// codec returns a codec that encodes to one version and media type, and decodes every version and
// media type.
func codec(t *testing.T, of *runtime.Scheme, version schema.GroupVersion, mediaType string) runtime.Codec {
	t.Helper()
	codecs := serializer.NewCodecFactory(of, serializer.WithSerializer(cbor.NewSerializerInfo))
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("no serializer for %s", mediaType)
	}
	hub := schema.GroupVersion{Group: version.Group, Version: runtime.APIVersionInternal}
	return codecs.CodecForVersions(info.Serializer, codecs.UniversalDeserializer(), version, hub)
}

// transcoded encodes the object with one codec and decodes the result with the other.
func transcoded(t *testing.T, from, to runtime.Codec, obj runtime.Object) runtime.Object {
	t.Helper()
	encoded, err := runtime.Encode(from, obj)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := runtime.Decode(to, encoded)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// Fields that are set keep their values, and fields that are not set get no defaults.
func TestOwnFieldsRoundTrip(t *testing.T) {
	for _, version := range versions {
		for _, mediaType := range mediaTypes {
			t.Run(version.Version+" "+mediaType, func(t *testing.T) {
				codec := codec(t, scheme.Scheme, version, mediaType)
				for _, obj := range []runtime.Object{policy(), binding(), mutatingPolicy(), barePolicy(), bareBinding(), bareMutatingPolicy()} {
					if diff := cmp.Diff(obj, transcoded(t, codec, codec, obj)); diff != "" {
						t.Errorf("-sent +received:\n%s", diff)
					}
				}
			})
		}
	}
}

// The project's own fields have numbers from 1000, which Kubernetes does not use. Their tags are
// encoded as the bytes 0xc2 0x3e, 0xca 0x3e and so on for strings and messages.
func TestProtobufNumbers(t *testing.T) {
	for _, version := range versions {
		codec := codec(t, scheme.Scheme, version, runtime.ContentTypeProtobuf)
		for field, obj := range map[string]runtime.Object{
			"\xc2\x3e\x09Singleton": policy(),
			"\xc2\x3e\x06Ignore":    policy(),
			"\xca\x3e\x08Enforced":  policy(),
			"\xc2\x3e\x08Fallback":  binding(),
			"\xc2\x3e\x04null\xca\x3e\x04true\xd2\x3e\x08too many\xda\x3e\x09Forbidden\xe2\x3e\x05Never": mutatingPolicy(),
			"\xc2\x3e\x08Enforced": mutatingPolicy(),
			// The status is an own field, and its observedCustomResources is another.
			"\xc2\x3e\x02\x08\x00":                              bareMutatingPolicy(),
			"\x32\x04fine\xc2\x3e\x28\x0a\x11rules.example.com": mutatingPolicy(),
			"\xea\x3e\x04\x0a\x02{}":                            mutatingPolicy(),
			"\xf2\x3e\x0a\x0a\x08Object{}":                      mutatingPolicy(),
			"\xc2\x3e\x28\x0a\x11rules.example.com\x12\x02v1\x1a\x05Limit\x20\x03\x2a\x06c0ffee": policy(),
		} {
			encoded, err := runtime.Encode(codec, obj)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(encoded, []byte(field)) {
				t.Errorf("%s: %q is not in %q", version, field, encoded)
			}
		}
	}
}

// Kubernetes' own types decode the objects as if the project's own fields were not set.
func TestKubernetesReadsOwnFields(t *testing.T) {
	for _, version := range versions {
		for _, mediaType := range mediaTypes {
			t.Run(version.Version+" "+mediaType, func(t *testing.T) {
				ours, theirs := codec(t, scheme.Scheme, version, mediaType), codec(t, legacyscheme.Scheme, version, mediaType)
				for with, without := range map[runtime.Object]runtime.Object{policy(): barePolicy(), binding(): bareBinding(), mutatingPolicy(): bareMutatingPolicy(), mutatingBinding(): bareMutatingBinding()} {
					if diff := cmp.Diff(transcoded(t, ours, theirs, without), transcoded(t, ours, theirs, with)); diff != "" {
						t.Errorf("-without +with the fields:\n%s", diff)
					}
				}
			})
		}
	}
}

func TestApplyConfigurations(t *testing.T) {
	lookups := []*applyv1.LookupApplyConfiguration{
		applyv1.Lookup().WithName("ingresses").WithAPIVersion("networking.k8s.io/v1").WithKind("Ingress").WithScope(v1.ClusterLookupScope).WithIndex("item.metadata.name").WithConsistency(v1.LatestLookupConsistency),
		applyv1.Lookup().WithName("services").WithAPIVersion("v1").WithKind("Service"),
	}
	policySpec := applyv1.ValidatingAdmissionPolicySpec().WithPolicyType(v1.SingletonPolicy).WithTypeChecking(v1.EnforcedTypeChecking).WithFailurePolicy(v1.Fail).WithValidations(
		applyv1.Validation().WithExpression("true").WithFailurePolicy(v1.Ignore).WithScope(applyv1.ScopedValues().WithType("io.k8s.api.core.v1.Container")),
		applyv1.Validation().WithExpression("false").WithScope(applyv1.ScopedValues().WithPath("spec.rules[*].host")), applyv1.Validation().WithExpression("false").WithFieldPath("spec.replicas")).
		WithLookups(lookups...)
	resources := []*applyv1.ObservedCustomResourceApplyConfiguration{
		applyv1.ObservedCustomResource().WithGroup("rules.example.com").WithVersion("v1").WithKind("Limit").WithGeneration(3).WithUID("c0ffee"),
		applyv1.ObservedCustomResource().WithGroup("rules.example.com").WithVersion("v1").WithKind("Quota").WithGeneration(0),
	}
	status := applyv1.ValidatingAdmissionPolicyStatus().WithObservedGeneration(2).WithObservedCustomResources(resources...)
	mutatingStatus := applyv1.MutatingAdmissionPolicyStatus().WithObservedGeneration(2).WithObservedCustomResources(resources...).
		WithTypeChecking(applyv1.TypeChecking().WithExpressionWarnings(applyv1.ExpressionWarning().WithFieldRef("spec.mutations[0].expression").WithWarning("no such field"))).
		WithConditions(applymetav1.Condition().WithType(v1.PolicyConditionAvailable).WithStatus(metav1.ConditionTrue).WithObservedGeneration(2).
			WithReason("Checked").WithMessage("fine").WithLastTransitionTime(metav1.Unix(1, 0)))
	mutatingSpec := applyv1.MutatingAdmissionPolicySpec().WithPolicyType(v1.SingletonPolicy).WithTypeChecking(v1.EnforcedTypeChecking).WithFailurePolicy(v1.Fail).WithReinvocationPolicy(v1.IfNeededReinvocationPolicy).WithMutations(
		applyv1.Mutation().WithExpression("null").WithCondition("true").WithMessage("too many").WithReason(metav1.StatusReasonForbidden).WithReinvocationPolicy(v1.NeverReinvocationPolicy),
		applyv1.Mutation().WithPatchType(v1.PatchTypeJSONMergePatch).WithJSONMergePatch(applyv1.JSONMergePatch().WithExpression("{}")),
		applyv1.Mutation().WithPatchType(v1.PatchTypeStrategicMergePatch).WithStrategicMergePatch(applyv1.StrategicMergePatch().WithExpression("Object{}")),
		applyv1.Mutation().WithPatchType(v1.PatchTypeJSONPatch).WithJSONPatch(applyv1.JSONPatch().WithExpression("[JSONPatch{}]")).WithCondition("")).
		WithLookups(lookups...)
	bindingSpec := applyv1.ValidatingAdmissionPolicyBindingSpec().WithPolicyName("demo").WithBindingType(v1.FallbackBinding)
	mutatingBindingSpec := applyv1.MutatingAdmissionPolicyBindingSpec().WithPolicyName("demo").WithBindingType(v1.FallbackBinding)
	for name, tc := range map[string]struct {
		configuration any
		want          runtime.Object
	}{
		"policy v1":                 {applyv1.ValidatingAdmissionPolicy("demo").WithSpec(policySpec).WithStatus(status), policy()},
		"policy v1beta1":            {applyv1beta1.ValidatingAdmissionPolicy("demo").WithSpec(policySpec).WithStatus(status), policy()},
		"policy v1alpha1":           {applyv1alpha1.ValidatingAdmissionPolicy("demo").WithSpec(policySpec).WithStatus(status), policy()},
		"mutating policy v1":        {applyv1.MutatingAdmissionPolicy("demo").WithSpec(mutatingSpec).WithStatus(mutatingStatus), mutatingPolicy()},
		"mutating policy v1beta1":   {applyv1beta1.MutatingAdmissionPolicy("demo").WithSpec(mutatingSpec).WithStatus(mutatingStatus), mutatingPolicy()},
		"mutating policy v1alpha1":  {applyv1alpha1.MutatingAdmissionPolicy("demo").WithSpec(mutatingSpec).WithStatus(mutatingStatus), mutatingPolicy()},
		"mutating binding v1":       {applyv1.MutatingAdmissionPolicyBinding("demo").WithSpec(mutatingBindingSpec), mutatingBinding()},
		"mutating binding v1beta1":  {applyv1beta1.MutatingAdmissionPolicyBinding("demo").WithSpec(mutatingBindingSpec), mutatingBinding()},
		"mutating binding v1alpha1": {applyv1alpha1.MutatingAdmissionPolicyBinding("demo").WithSpec(mutatingBindingSpec), mutatingBinding()},
		"binding v1":                {applyv1.ValidatingAdmissionPolicyBinding("demo").WithSpec(bindingSpec), binding()},
		"binding v1beta1":           {applyv1beta1.ValidatingAdmissionPolicyBinding("demo").WithSpec(bindingSpec), binding()},
		"binding v1alpha1":          {applyv1alpha1.ValidatingAdmissionPolicyBinding("demo").WithSpec(bindingSpec), binding()},
	} {
		t.Run(name, func(t *testing.T) {
			sent, err := json.Marshal(tc.configuration)
			if err != nil {
				t.Fatal(err)
			}
			got, err := runtime.Decode(scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion), sent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
