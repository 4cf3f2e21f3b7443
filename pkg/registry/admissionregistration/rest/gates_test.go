// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	registryrest "k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

const singletonManifest = `{
	"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
	"metadata": {"name": "alone"},
	"spec": {
		"policyType": "Singleton",
		"typeChecking": "Enforced",
		"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]},
		"validations": [{"expression": "object.spec.replicas <= 5", "failurePolicy": "Ignore"}]
	}
}`

const fallbackManifest = `{
	"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
	"metadata": {"name": "fallback"},
	"spec": {"policyName": "demo", "bindingType": "Fallback", "validationActions": ["Deny"]}
}`

const typedManifest = `{
	"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
	"metadata": {"name": "typed"},
	"spec": {
		"typeChecking": "Enforced",
		"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]},
		"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{spec: Object.spec{replicas: 5}}"}}],
		"reinvocationPolicy": "Never"
	}
}`

// TestStoredFieldsOutliveTheirGates stores gated fields while their gates are on, and updates the
// objects while the gates are off and when they are on again. The stored fields stay.
func TestStoredFieldsOutliveTheirGates(t *testing.T) {
	s := newServer(t, runtime.ContentTypeProtobuf, "", false)
	group := s.install(t, runtime.ContentTypeProtobuf).VersionedResourcesStorageMap
	policies, bindings := group["v1"]["validatingadmissionpolicies"], group["v1"]["validatingadmissionpolicybindings"]
	mutatingPolicies := group["v1"]["mutatingadmissionpolicies"]
	decoder := scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion)
	bindingOf := func(policy string) *admissionregistration.ValidatingAdmissionPolicyBinding {
		return &admissionregistration.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "demo-"},
			Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy, ValidationActions: []v1.ValidationAction{v1.Deny}},
		}
	}
	const refused = "spec.policyName: Forbidden: policy alone is a Singleton, which takes effect without a binding"

	for _, step := range []struct {
		name        string
		on          bool
		wantBinding string // the error for a binding that names the Singleton
	}{
		{"on", true, refused},
		{"off with stored data", false, ""},
		{"on again", true, refused},
	} {
		t.Run(step.name, func(t *testing.T) {
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
				features.ValidatingAdmissionPolicySingleton:               step.on,
				features.ValidatingAdmissionPolicyValidationFailurePolicy: step.on,
				features.ValidatingAdmissionPolicyFallbackBinding:         step.on,
				features.AdmissionPolicyTypeEnforcement:                   step.on,
			})
			ctx := by(t.Context(), root, "v1")
			if step.name == "on" {
				if err := create(ctx, policies, decoded(t, decoder, singletonManifest)); err != nil {
					t.Fatal(err)
				}
				if err := create(ctx, bindings, decoded(t, decoder, fallbackManifest)); err != nil {
					t.Fatal(err)
				}
				if err := create(ctx, mutatingPolicies, decoded(t, decoder, typedManifest)); err != nil {
					t.Fatal(err)
				}
			}
			policy := annotate(t, policies, "alone", step.name).(*admissionregistration.ValidatingAdmissionPolicy).Spec
			if policy.PolicyType == nil || policy.TypeChecking == nil || policy.Validations[0].FailurePolicy == nil {
				t.Errorf("got policyType %v, typeChecking %v and failurePolicy %v, want what was created", policy.PolicyType, policy.TypeChecking, policy.Validations[0].FailurePolicy)
			}
			binding := annotate(t, bindings, "fallback", step.name).(*admissionregistration.ValidatingAdmissionPolicyBinding).Spec
			if binding.BindingType == nil {
				t.Error("got no bindingType, want what was created")
			}
			if typed := annotate(t, mutatingPolicies, "typed", step.name).(*admissionregistration.MutatingAdmissionPolicy).Spec; typed.TypeChecking == nil {
				t.Error("got no typeChecking of the mutating policy, want what was created")
			}
			expectInvalid(t, create(ctx, bindings, bindingOf("alone")), step.wantBinding)
			expectInvalid(t, create(ctx, bindings, bindingOf("not-there")), "")
		})
	}
}

// TestTypeEnforcement creates policies of both kinds that do not fit built-in types: the server
// refuses them while the gate is on.
func TestTypeEnforcement(t *testing.T) {
	s := newServer(t, runtime.ContentTypeProtobuf, "", false)
	group := s.install(t, runtime.ContentTypeProtobuf).VersionedResourcesStorageMap
	decoder := scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion)
	for name, tc := range map[string]struct{ resource, manifest, want string }{
		"validating": {
			"validatingadmissionpolicies", strings.NewReplacer("alone", "misfit", "spec.replicas", "spec.relpicas").Replace(singletonManifest),
			"spec.validations[0].expression: Invalid value: apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'relpicas'",
		},
		"mutating": {
			"mutatingadmissionpolicies", strings.NewReplacer("typed", "misfit", "replicas", "relpicas").Replace(typedManifest),
			"spec.mutations[0].applyConfiguration.expression: Invalid value: apps/v1, Kind=Deployment: ERROR: <input>:1:34: undefined field 'relpicas'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, on := range []bool{true, false} {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionPolicyTypeEnforcement, on)
				want := ""
				if on {
					want = tc.want
				}
				expectInvalid(t, create(by(t.Context(), root, "v1"), group["v1beta1"][tc.resource], decoded(t, decoder, tc.manifest)), want)
			}
		})
	}
}

// annotate sets an annotation of a stored object and returns the updated object.
func annotate(t *testing.T, storage registryrest.Storage, name, step string) runtime.Object {
	t.Helper()
	updated := update(t, storage, name, func(obj runtime.Object) {
		obj.(metav1.Object).SetAnnotations(map[string]string{"step": step})
	})
	if got := updated.(metav1.Object).GetAnnotations()["step"]; got != step {
		t.Errorf("annotation is %q, want %q", got, step)
	}
	return updated
}

// update edits a stored object and returns the updated object.
func update(t *testing.T, storage registryrest.Storage, name string, edit func(runtime.Object)) runtime.Object {
	t.Helper()
	ctx := by(t.Context(), root, "v1")
	obj, err := storage.(registryrest.Getter).Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	obj = obj.DeepCopyObject()
	edit(obj)
	updated, _, err := storage.(registryrest.Updater).Update(ctx, name, registryrest.DefaultUpdatedObjectInfo(obj),
		registryrest.ValidateAllObjectFunc, registryrest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return updated
}
