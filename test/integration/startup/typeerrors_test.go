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

// enforcing is a kind of policy with an enforced policy named few and its binding. The policy
// rejects config maps with more than two keys, and has no type errors only if its expression
// reads field data.
type enforcing struct {
	kind      string
	manifests []string
	// reading changes the policy so that it reads another field.
	reading func(field string) string
	// decided is the result for a config map, and misfit the result if the expression reads
	// 'dada'.
	decided, undecided, misfit string
}

const changed = "labels were added"

var enforcingKinds = []enforcing{{
	kind: "ValidatingAdmissionPolicy",
	manifests: []string{`
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
`},
	reading: func(field string) string {
		return `{"spec": {"validations": [{"expression": "object.` + field + `.size() < 3", "message": "too many"}]}}`
	},
	decided:   "ValidatingAdmissionPolicy 'few' with binding 'few' denied request: too many",
	undecided: "ValidatingAdmissionPolicy 'few' denied request: failed to configure policy: ",
	misfit:    "spec.validations[0].expression does not fit /v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'dada'\n | object.dada.size() < 3\n | ......^",
}, {
	kind: "MutatingAdmissionPolicy",
	manifests: []string{`
kind: MutatingAdmissionPolicy
metadata: {name: few}
spec:
  typeChecking: Enforced
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: default}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  reinvocationPolicy: Never
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'count': string(object.data.size())}}}"}}]
`, `
kind: MutatingAdmissionPolicyBinding
metadata: {name: few}
spec: {policyName: few}
`},
	reading: func(field string) string {
		return `{"spec": {"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{metadata: Object.metadata{labels: {'count': string(object.` + field + `.size())}}}"}}]}}`
	},
	decided:   changed,
	undecided: `policy "few" denied request: failed to configure policy: `,
	misfit: "spec.mutations[0].applyConfiguration.expression does not fit /v1, Kind=ConfigMap: ERROR: <input>:1:65: undefined field 'dada'\n" +
		" | Object{metadata: Object.metadata{labels: {'count': string(object.dada.size())}}}\n" +
		" | ................................................................^",
}}

// An enforced policy takes effect only after the server has checked its types. Type errors in
// stored policies deny requests, but do not prevent writes of the policy's other fields.
func TestTypeErrorsInStorage(t *testing.T) {
	for _, kind := range enforcingKinds {
		t.Run(kind.kind, kind.testStorage)
	}
}

func (k enforcing) testStorage(t *testing.T) {
	dir := t.TempDir()
	change := func(t *testing.T, s gateServer, patch string) error {
		t.Helper()
		_, err := s.resource(t, "v1", k.kind).Patch(t.Context(), "few", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	// expect checks the result for a config map with three keys once all earlier writes are in
	// effect, and that all results before have the prefix.
	expect := func(t *testing.T, s gateServer, prefix, want string) {
		t.Helper()
		client := clientsOf(s.Server)
		testserver.Eventually(t, func(ctx context.Context) error {
			sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Data: map[string]string{"a": "", "b": "", "c": ""}}
			received, err := client.Core.CoreV1().ConfigMaps("default").Create(ctx, sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			got := ""
			switch {
			case apierrors.IsServiceUnavailable(err):
				return err // the server has no schemas to mutate with yet
			case err != nil:
				got = strings.TrimPrefix(err.Error(), `configmaps "data" is forbidden: `)
			case len(received.Labels) > 0:
				got = changed
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
		for _, text := range k.manifests {
			if _, err := server.write(t, "v1", parse(t, text), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, server, "", k.decided)
		if err := change(t, server, k.reading("dada")); !apierrors.IsInvalid(err) {
			t.Errorf("got error %v, want the policy to be invalid", err)
		}
	})
	t.Run("restart", func(t *testing.T) {
		server := gateServer{testserver.Start(t, dir, typeGate), true}
		expect(t, server, k.undecided+"policy has not been type checked yet", k.decided)
	})
	t.Run("made wrong with the gate off", func(t *testing.T) {
		server := gateServer{testserver.Start(t, dir), false}
		expect(t, server, k.decided, k.decided)
		if err := change(t, server, k.reading("dada")); err != nil {
			t.Error(err)
		}
	})
	t.Run("gate on again", func(t *testing.T) {
		server := gateServer{testserver.Start(t, dir, typeGate), true}
		expect(t, server, k.undecided, k.undecided+k.misfit)
		if err := change(t, server, `{"metadata": {"labels": {"changed": "true"}}, "spec": {"failurePolicy": "Ignore"}}`); err != nil {
			t.Errorf("a change of something else is refused: %v", err)
		}
		expect(t, server, k.undecided, "")
		if err := change(t, server, k.reading("tada")); !apierrors.IsInvalid(err) {
			t.Errorf("got error %v, want the policy to be invalid", err)
		}
		if err := change(t, server, k.reading("data")); err != nil {
			t.Errorf("the repair is refused: %v", err)
		}
		expect(t, server, "", k.decided)
	})
}
