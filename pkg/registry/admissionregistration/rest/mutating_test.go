// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	upstreamv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	registryrest "k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstream "k8s.io/kubernetes/pkg/apis/admissionregistration"
	upstreampolicies "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy/storage"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

const mutatingManifest = `{
	"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
	"metadata": {"name": "demo", "labels": {"team": "blue"}},
	"spec": {
		"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
		"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]},
		"variables": [{"name": "replicas", "expression": "object.spec.replicas"}],
		"mutations": [
			{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/spec/replicas', value: variables.replicas + 1}]"}},
			{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{spec: Object.spec{paused: true}}"}}
		],
		"reinvocationPolicy": "IfNeeded"
	}
}`

// TestMutatingPoliciesAreInterchangeable reads each policy with the server that stored it and with
// the other one. Kubernetes reads no status.
func TestMutatingPoliciesAreInterchangeable(t *testing.T) {
	for mediaType, wantPrefix := range map[string]string{
		runtime.ContentTypeProtobuf: "k8s\x00",
		runtime.ContentTypeJSON:     `{"kind":"MutatingAdmissionPolicy","apiVersion":"admissionregistration.k8s.io/v1"`,
	} {
		t.Run(mediaType, func(t *testing.T) {
			s := newServer(t, mediaType, "", false)
			resources := s.install(t, mediaType).VersionedResourcesStorageMap["v1beta1"]
			ours, status := resources["mutatingadmissionpolicies"], resources["mutatingadmissionpolicies/status"]
			theirs, err := upstreampolicies.NewREST(s, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(theirs.Destroy)
			ctx := by(t.Context(), root, "v1")

			if err := create(ctx, ours, decoded(t, scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion), mutatingManifest)); err != nil {
				t.Fatal(err)
			}
			update(t, status, "demo", func(obj runtime.Object) {
				obj.(*admissionregistration.MutatingAdmissionPolicy).Status.ObservedGeneration = 1
			})
			stock := strings.Replace(mutatingManifest, `"demo"`, `"stock"`, 1)
			if err := create(ctx, theirs, decoded(t, legacyscheme.Codecs.UniversalDecoder(upstream.SchemeGroupVersion), stock)); err != nil {
				t.Fatal(err)
			}
			if stored := s.raw(t, "/mutatingadmissionpolicies/demo"); !bytes.HasPrefix(stored, []byte(wantPrefix)) {
				t.Errorf("stored in etcd: %q, want it to begin with %q", stored, wantPrefix)
			}
			for policy, wantObserved := range map[string]int64{"demo": 1, "stock": 0} {
				want, err := theirs.Get(ctx, policy, &metav1.GetOptions{})
				if err != nil {
					t.Fatalf("Kubernetes reads %s: %v", policy, err)
				}
				got, err := ours.(registryrest.Getter).Get(ctx, policy, &metav1.GetOptions{})
				if err != nil {
					t.Fatalf("we read %s: %v", policy, err)
				}
				if observed := got.(*admissionregistration.MutatingAdmissionPolicy).Status.ObservedGeneration; observed != wantObserved {
					t.Errorf("%s: observed generation is %d, want %d", policy, observed, wantObserved)
				}
				theirFields := fields(t, encoded(t, legacyscheme.Codecs.LegacyCodec(upstreamv1.SchemeGroupVersion), want))
				ourFields := fields(t, encoded(t, scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion), got))
				delete(ourFields, "status")
				if diff := cmp.Diff(theirFields, ourFields); diff != "" {
					t.Errorf("%s (-Kubernetes +us):\n%s", policy, diff)
				}
			}
		})
	}
}

// fields returns the fields of an object in JSON.
func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	var content map[string]any
	if err := json.Unmarshal([]byte(text), &content); err != nil {
		t.Fatal(err)
	}
	return content
}

// TestParamAccessOfMutatingBindings shows that the paramKind of a binding is that of the mutating
// policy which it names, even if a validating policy has the same name.
func TestParamAccessOfMutatingBindings(t *testing.T) {
	binding := func(policy, param string) *admissionregistration.MutatingAdmissionPolicyBinding {
		return &admissionregistration.MutatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "demo-"},
			Spec: v1.MutatingAdmissionPolicyBindingSpec{
				PolicyName: policy,
				ParamRef:   &v1.ParamRef{Name: param, Namespace: "default", ParameterNotFoundAction: new(v1.DenyAction)},
			},
		}
	}
	decoder := scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion)
	policy := decoded(t, decoder, mutatingManifest)
	s := newServer(t, runtime.ContentTypeProtobuf, "", false)
	group := s.install(t, runtime.ContentTypeProtobuf).VersionedResourcesStorageMap
	if err := create(by(t.Context(), root, "v1"), group["v1"]["mutatingadmissionpolicies"], policy); err != nil {
		t.Fatal(err)
	}
	if err := create(by(t.Context(), root, "v1"), group["v1"]["validatingadmissionpolicies"], decoded(t, decoder, strings.Replace(manifest, `"demo"`, `"validating"`, 1))); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		who     user.Info
		storage registryrest.Storage
		obj     runtime.Object
		want    string
	}{
		"policy":                 {alice, group["v1"]["mutatingadmissionpolicies"], policy, `spec.paramKind: Forbidden: user &{alice  [] map[]} must have "get" permission on all objects of the referenced paramKind`},
		"readable param":         {alice, group["v1"]["mutatingadmissionpolicybindings"], binding("demo", "readable"), ""},
		"unreadable param":       {alice, group["v1beta1"]["mutatingadmissionpolicybindings"], binding("demo", "hidden"), `spec.paramRef: Forbidden: user &{alice  [] map[]} does not have "get" permission on the object referenced by paramRef`},
		"validating policy":      {alice, group["v1"]["mutatingadmissionpolicybindings"], binding("validating", "readable"), `spec.paramRef: Forbidden: unable to get policy validating to determine minimum required permissions`},
		"unreadable, privileged": {root, group["v1"]["mutatingadmissionpolicybindings"], binding("other", "hidden"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			expectInvalid(t, create(by(t.Context(), tc.who, "v1"), tc.storage, tc.obj.DeepCopyObject()), tc.want)
		})
	}

	// If policies are not served, nobody knows the paramKind of a binding, and only a user who may
	// read everything can write one.
	config := enabled(v1.SchemeGroupVersion)
	config.DisableResources(v1.SchemeGroupVersion.WithResource("mutatingadmissionpolicies"))
	bindings, err := provider().NewRESTStorage(config, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, storage := range bindings.VersionedResourcesStorageMap["v1"] {
		t.Cleanup(storage.Destroy)
	}
	expectInvalid(t, create(by(t.Context(), alice, "v1"), bindings.VersionedResourcesStorageMap["v1"]["mutatingadmissionpolicybindings"], binding("demo", "readable")),
		`spec.paramRef: Forbidden: unable to get policy demo to determine minimum required permissions`)
}

const inlineManifest = `{
	"apiVersion": "admissionregistration.k8s.io/v1beta1", "kind": "MutatingAdmissionPolicy",
	"metadata": {"name": "inline"},
	"spec": {
		"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]},
		"mutations": [
			{"expression": "object.spec.replicas <= 5", "condition": "true", "message": "too many", "reason": "Forbidden", "reinvocationPolicy": "Never"},
			{"patchType": "JSONMergePatch", "jsonMergePatch": {"expression": "{'spec': {'paused': true}}"}},
			{"patchType": "StrategicMergePatch", "strategicMergePatch": {"expression": "Object{}"}}
		],
		"reinvocationPolicy": "IfNeeded"
	}
}`

// TestStoredMutationsOutliveTheirGate stores gated fields while their gate is on, and updates the
// object while the gate is off and when it is on again. The stored fields stay.
func TestStoredMutationsOutliveTheirGate(t *testing.T) {
	s := newServer(t, runtime.ContentTypeProtobuf, "", false)
	policies := s.install(t, runtime.ContentTypeProtobuf).VersionedResourcesStorageMap["v1"]["mutatingadmissionpolicies"]
	sent := decoded(t, scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion), inlineManifest).(*admissionregistration.MutatingAdmissionPolicy)
	gate := func(t *testing.T, on bool) {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.MutatingAdmissionPolicyInlineExpressions, on)
	}
	t.Run("off", func(t *testing.T) {
		gate(t, false)
		expectInvalid(t, create(by(t.Context(), root, "v1"), policies, sent.DeepCopy()), "[spec.mutations[0].patchType: Required value: supported values: \"ApplyConfiguration\", \"JSONPatch\", "+
			`spec.mutations[1].patchType: Unsupported value: "JSONMergePatch": supported values: "ApplyConfiguration", "JSONPatch", `+
			`spec.mutations[2].patchType: Unsupported value: "StrategicMergePatch": supported values: "ApplyConfiguration", "JSONPatch"]`)
	})
	t.Run("on", func(t *testing.T) {
		gate(t, true)
		if err := create(by(t.Context(), root, "v1"), policies, sent.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	})
	for step, on := range map[string]bool{"off with stored data": false, "on again": true} {
		t.Run(step, func(t *testing.T) {
			gate(t, on)
			stored := annotate(t, policies, "inline", step).(*admissionregistration.MutatingAdmissionPolicy)
			if diff := cmp.Diff(sent.Spec, stored.Spec); diff != "" {
				t.Errorf("-sent +stored:\n%s", diff)
			}
		})
	}
}
