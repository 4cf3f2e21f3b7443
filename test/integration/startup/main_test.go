// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package startup tests flags of the server, and data that earlier servers stored. Each test runs
// its own servers.
package startup

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

const group = "admissionregistration.k8s.io"

// clients are the clients of a server's administrator.
type clients struct{ testserver.Clients }

func clientsOf(server *testserver.Server) clients { return clients{server.Clients()} }

// forbid creates a policy and a binding, both named "forbid", that deny config maps with label
// forbidden.
func (c clients) forbid(t *testing.T) (*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding) {
	t.Helper()
	name := metav1.ObjectMeta{Name: "forbid"}
	client := c.Policies.AdmissionregistrationV1()
	policy, err := client.ValidatingAdmissionPolicies().Create(t.Context(), &v1.ValidatingAdmissionPolicy{
		ObjectMeta: name,
		Spec: v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &v1.MatchResources{
				ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"forbidden": "true"}},
				ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
					Operations: []v1.OperationType{v1.Create},
					Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				}}},
			},
			Validations: []v1.Validation{{Expression: "false"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding, err := client.ValidatingAdmissionPolicyBindings().Create(t.Context(), &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: name,
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name.Name, ValidationActions: []v1.ValidationAction{v1.Deny}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return policy, binding
}

// denied reports whether policy "forbid" is in effect.
func (c clients) denied(t *testing.T) bool {
	t.Helper()
	_, err := c.Core.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "data-", Labels: map[string]string{"forbidden": "true"}},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil && !apierrors.IsInvalid(err) {
		t.Fatalf("got error %v, want a denial or none", err)
	}
	return err != nil
}

// served returns the names of the resources in a version of the group, none if the version is not
// served.
func (c clients) served(t *testing.T, version string) []string {
	t.Helper()
	list, err := c.Core.Discovery().ServerResourcesForGroupVersion(group + "/" + version)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, resource := range list.APIResources {
		names = append(names, resource.Name)
	}
	return names
}
