// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
)

const typeGate = "--feature-gates=AdmissionPolicyTypeEnforcement=true"

// few is a policy whose expression fits only as it is here, with its binding.
var few = []string{`
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  typeChecking: Enforced
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: default}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: object.data.size() < 3, message: too many}]
`, `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec: {policyName: few, validationActions: [Deny]}
`}

const (
	tooMany   = "ValidatingAdmissionPolicy 'few' with binding 'few' denied request: too many"
	undecided = "ValidatingAdmissionPolicy 'few' denied request: failed to configure policy: "
	misfit    = undecided + "spec.validations[0].expression does not fit /v1, Kind=ConfigMap: " +
		"ERROR: <input>:1:7: undefined field 'dada'\n | object.dada.size() < 3\n | ......^"
)

// A server decides nothing in the name of a policy before it has checked it. Errors that it
// finds in what is stored count, but do not keep anybody from writing something else.
func TestTypeErrorsInStorage(t *testing.T) {
	dir := t.TempDir()
	change := func(t *testing.T, s gateServer, patch string) error {
		t.Helper()
		_, err := s.resource(t, "v1", "ValidatingAdmissionPolicy").Patch(t.Context(), "few", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	reading := func(field string) string {
		return `{"spec": {"validations": [{"expression": "object.` + field + `.size() < 3", "message": "too many"}]}}`
	}
	// expect wants the answer to a config map with three keys once what was written is in
	// effect, and that all denials before have the prefix.
	expect := func(t *testing.T, s gateServer, prefix, want string) {
		t.Helper()
		client := clientsOf(t, s.Server)
		testserver.Eventually(t, func(ctx context.Context) error {
			sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Data: map[string]string{"a": "", "b": "", "c": ""}}
			_, err := client.core.CoreV1().ConfigMaps("default").Create(ctx, sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			got := ""
			if err != nil {
				got = strings.TrimPrefix(err.Error(), `configmaps "data" is forbidden: `)
			}
			if got != want && !strings.HasPrefix(got, prefix) {
				t.Fatalf("answer is %q, want one with %q, and %q at last", got, prefix, want)
			}
			if got != want {
				return fmt.Errorf("answer is %q, want %q", got, want)
			}
			return nil
		})
	}

	t.Run("written", func(t *testing.T) {
		server := gateServer{testserver.Start(t, dir, typeGate), true}
		for _, text := range few {
			if _, err := server.write(t, "v1", parse(t, text), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, server, "", tooMany)
		if err := change(t, server, reading("dada")); !apierrors.IsInvalid(err) {
			t.Errorf("got error %v, want the policy to be invalid", err)
		}
	})
	t.Run("restart", func(t *testing.T) {
		server := gateServer{testserver.Start(t, dir, typeGate), true}
		expect(t, server, undecided+"policy has not been type checked yet", tooMany)
	})
	t.Run("made wrong with the gate off", func(t *testing.T) {
		server := gateServer{testserver.Start(t, dir), false}
		expect(t, server, tooMany, tooMany)
		if err := change(t, server, reading("dada")); err != nil {
			t.Error(err)
		}
	})
	t.Run("gate on again", func(t *testing.T) {
		server := gateServer{testserver.Start(t, dir, typeGate), true}
		expect(t, server, undecided, misfit)
		if err := change(t, server, `{"metadata": {"labels": {"changed": "true"}}, "spec": {"failurePolicy": "Ignore"}}`); err != nil {
			t.Errorf("a change of something else is refused: %v", err)
		}
		expect(t, server, undecided, "")
		if err := change(t, server, reading("tada")); !apierrors.IsInvalid(err) {
			t.Errorf("got error %v, want the policy to be invalid", err)
		}
		if err := change(t, server, reading("data")); err != nil {
			t.Errorf("the repair is refused: %v", err)
		}
		expect(t, server, "", tooMany)
	})
}
