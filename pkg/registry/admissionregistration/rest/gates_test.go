// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	registryrest "k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
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

// TestStoredFieldsOutliveTheirGates writes fields with their gates on, changes the
// objects with the gates off, and has everything back when they are on again.
func TestStoredFieldsOutliveTheirGates(t *testing.T) {
	s := newServer(t, runtime.ContentTypeProtobuf, "", false)
	group := s.install(t, runtime.ContentTypeProtobuf).VersionedResourcesStorageMap
	policies, bindings := group["v1"]["validatingadmissionpolicies"], group["v1"]["validatingadmissionpolicybindings"]
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
		wantBinding string // why no binding can name the Singleton
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
			}
			policy := annotate(t, policies, "alone", step.name).(*admissionregistration.ValidatingAdmissionPolicy).Spec
			if policy.PolicyType == nil || policy.TypeChecking == nil || policy.Validations[0].FailurePolicy == nil {
				t.Errorf("got policyType %v, typeChecking %v and failurePolicy %v, want what was created", policy.PolicyType, policy.TypeChecking, policy.Validations[0].FailurePolicy)
			}
			binding := annotate(t, bindings, "fallback", step.name).(*admissionregistration.ValidatingAdmissionPolicyBinding).Spec
			if binding.BindingType == nil {
				t.Error("got no bindingType, want what was created")
			}
			expectInvalid(t, create(ctx, bindings, bindingOf("alone")), step.wantBinding)
			expectInvalid(t, create(ctx, bindings, bindingOf("not-there")), "")
		})
	}
}

// annotate updates an object, and returns what is stored then.
func annotate(t *testing.T, storage registryrest.Storage, name, step string) runtime.Object {
	t.Helper()
	ctx := by(t.Context(), root, "v1")
	obj, err := storage.(registryrest.Getter).Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	obj = obj.DeepCopyObject()
	obj.(metav1.Object).SetAnnotations(map[string]string{"step": step})
	updated, _, err := storage.(registryrest.Updater).Update(ctx, name, registryrest.DefaultUpdatedObjectInfo(obj),
		registryrest.ValidateAllObjectFunc, registryrest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := updated.(metav1.Object).GetAnnotations()["step"]; got != step {
		t.Errorf("annotation is %q, want %q", got, step)
	}
	return updated
}
