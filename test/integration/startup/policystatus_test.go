// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// A starting server keeps the statuses that an earlier server wrote, and writes none of them
// again.
func TestStatusSurvivesRestart(t *testing.T) {
	dir := t.TempDir()
	server := testserver.Start(t, dir)
	client := clientsOf(server)
	written := map[string]string{}
	for name, expression := range map[string]string{"fits": "object.data.a == 'b'", "wrong": "object.data == 5"} {
		client.write(t, name, expression)
		written[name] = client.settled(t, name).ResourceVersion
	}
	server.Stop()

	client = clientsOf(testserver.Start(t, dir))
	// The server checks stored policies before policies that are created later.
	client.write(t, "last", "true")
	client.settled(t, "last")
	for name, version := range written {
		if got := client.settled(t, name); got.ResourceVersion != version {
			t.Errorf("%s was written: got %+v", name, got)
		}
	}
}

// write creates a policy for config maps.
func (c clients) write(t *testing.T, name, expression string) {
	t.Helper()
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
			Operations: []v1.OperationType{v1.Create},
			Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		}}}},
		Validations: []v1.Validation{{Expression: expression}},
	}}
	if _, err := c.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// settled returns a policy as soon as it has a status.
func (c clients) settled(t *testing.T, name string) (policy *v1.ValidatingAdmissionPolicy) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) (err error) {
		policy, err = c.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, name, metav1.GetOptions{})
		if err == nil && meta.FindStatusCondition(policy.Status.Conditions, v1.PolicyConditionTypeChecked) == nil {
			err = fmt.Errorf("%s has no status", name)
		}
		return err
	})
	return policy
}
