// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"encoding/json"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration/install"
)

const validPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas.example.com}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}]
  validations: [{expression: object.spec.replicas <= 5}]
`

const validBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas-everywhere.example.com}
spec:
  policyName: replicas.example.com
  validationActions: [Deny]
`

const validMutatingPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: replicas.example.com}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}]
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{spec: Object.spec{replicas: 5}}'}}]
  reinvocationPolicy: Never
`

const validMutatingBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: replicas-everywhere.example.com}
spec: {policyName: replicas.example.com}
`

// patched applies a JSON merge patch to a manifest, both written as YAML, and
// returns the result as JSON.
func patched(t testing.TB, manifest, patch string) []byte {
	t.Helper()
	original, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatalf("manifest: %v", err)
	}
	if patch == "" {
		return original
	}
	edit, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatalf("patch: %v\n%s", err, patch)
	}
	return merged(t, original, edit)
}

// merged applies a JSON merge patch to a JSON document.
func merged(t testing.TB, original, patch []byte) []byte {
	t.Helper()
	result, err := jsonpatch.MergePatch(original, patch)
	if err != nil {
		t.Fatalf("patch: %v\n%s", err, patch)
	}
	return result
}

var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}()

// defaulting is true if decoding sets defaults, as in requests.
type defaulting bool

const (
	withDefaults    defaulting = true
	withoutDefaults defaulting = false
)

// decode decodes a manifest of a versioned type and converts it to the internal type.
func decode[Versioned, Internal any](scheme *runtime.Scheme, manifest []byte, defaults defaulting) (*Internal, error) {
	versioned, internal := new(Versioned), new(Internal)
	if err := json.Unmarshal(manifest, versioned); err != nil {
		return nil, err
	}
	if defaults {
		scheme.Default(any(versioned).(runtime.Object))
	}
	return internal, scheme.Convert(versioned, internal, nil)
}

// decodeOurs decodes a manifest of a policy kind in version v1 of celador.io/api.
func decodeOurs[T any](manifest []byte, defaults defaulting) (*T, error) {
	object := new(T)
	if err := json.Unmarshal(manifest, object); err != nil {
		return nil, err
	}
	if defaults {
		scheme.Default(any(object).(runtime.Object))
	}
	return object, nil
}

var (
	decodePolicy          = decodeOurs[v1.ValidatingAdmissionPolicy]
	decodeBinding         = decodeOurs[v1.ValidatingAdmissionPolicyBinding]
	decodeMutatingPolicy  = decodeOurs[v1.MutatingAdmissionPolicy]
	decodeMutatingBinding = decodeOurs[v1.MutatingAdmissionPolicyBinding]
)
