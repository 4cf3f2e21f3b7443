// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policystatus tests the status of policies on a running server. All tests share one
// server with default flags; each defines custom resources in its own API group.
package policystatus

import (
	"context"
	"fmt"
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"

	"celador.io/celador/test/integration/testserver"
)

var (
	// admin are clients that may do everything.
	admin       testserver.Clients
	core        kubernetes.Interface
	policies    clientset.Interface
	definitions apiextensions.Interface
)

func TestMain(m *testing.M) {
	os.Exit(testserver.Main(m, func(clients testserver.Clients) {
		admin, core, policies, definitions = clients, clients.Core, clients.Policies, clients.Definitions
	}))
}

// write creates a policy with a spec in YAML and deletes it at the end of the test.
func write(t *testing.T, spec string) *v1.ValidatingAdmissionPolicy {
	t.Helper()
	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	sent := &v1.ValidatingAdmissionPolicy{Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, spec)}
	sent.Name = testserver.UniqueName("policy")
	return testserver.Create(t, client, sent)
}

// matching returns the part of a policy's spec that matches the creation of resources.
func matching(group, version, resource string) string {
	return `matchConstraints: {resourceRules: [{apiGroups: ["` + group + `"], apiVersions: ["` + version + `"], operations: [CREATE], resources: ["` + resource + `"]}]}
`
}

// widgets returns a definition of widgets with one version, whose spec has the properties in
// YAML.
func widgets(t *testing.T, group, version, properties string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return testserver.Parse[*apiextensionsv1.CustomResourceDefinition](t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.`+group+`}
spec:
  group: `+group+`
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: `+version+`
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: `+properties+`}}}}
`)
}

// define creates a definition and deletes it at the end of the test.
func define(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return testserver.Create(t, definitions.ApiextensionsV1().CustomResourceDefinitions(), definition)
}

// expect waits until check accepts the status of a policy, and returns the status.
func expect(t *testing.T, name string, check func(v1.ValidatingAdmissionPolicyStatus) error) v1.ValidatingAdmissionPolicyStatus {
	t.Helper()
	return expectRead(t, check, func(ctx context.Context) (v1.ValidatingAdmissionPolicyStatus, error) {
		policy, err := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, name, metav1.GetOptions{})
		return policy.Status, err
	})
}

// expectMutating is like expect for a mutating policy, whose status has the same fields.
func expectMutating(t *testing.T, name string, check func(v1.ValidatingAdmissionPolicyStatus) error) v1.ValidatingAdmissionPolicyStatus {
	t.Helper()
	return expectRead(t, check, func(ctx context.Context) (v1.ValidatingAdmissionPolicyStatus, error) {
		policy, err := policies.AdmissionregistrationV1().MutatingAdmissionPolicies().Get(ctx, name, metav1.GetOptions{})
		return v1.ValidatingAdmissionPolicyStatus(policy.Status), err
	})
}

func expectRead(t *testing.T, check func(v1.ValidatingAdmissionPolicyStatus) error, read func(context.Context) (v1.ValidatingAdmissionPolicyStatus, error)) v1.ValidatingAdmissionPolicyStatus {
	t.Helper()
	var status v1.ValidatingAdmissionPolicyStatus
	testserver.Eventually(t, func(ctx context.Context) (err error) {
		if status, err = read(ctx); err != nil {
			return err
		}
		if err := check(status); err != nil {
			text, _ := yaml.Marshal(status)
			return fmt.Errorf("%w, in\n%s", err, text)
		}
		return nil
	})
	return status
}

// hasStatus returns a check for the status and reason of a condition.
func hasStatus(name string, status metav1.ConditionStatus, reason string) func(v1.ValidatingAdmissionPolicyStatus) error {
	return func(s v1.ValidatingAdmissionPolicyStatus) error {
		got := meta.FindStatusCondition(s.Conditions, name)
		if got == nil || got.Status != status || got.Reason != reason {
			return fmt.Errorf("want condition %s with status %s and reason %s", name, status, reason)
		}
		return nil
	}
}

// fits, doesNotFit and isMissing check whether a policy has no type errors, has type errors, or
// refers to a missing type.
var (
	fits = hasStatus(v1.PolicyConditionTypeChecked, metav1.ConditionTrue, v1.PolicyReasonNoTypeErrors)

	doesNotFit = hasStatus(v1.PolicyConditionTypeChecked, metav1.ConditionFalse, v1.PolicyReasonTypeErrors)

	isMissing = hasStatus(v1.PolicyConditionAvailable, metav1.ConditionFalse, v1.PolicyReasonMisconfigured)
)
