// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	kubernetesv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	admissionv1 "celador.io/api/admissionregistration/v1"
)

func TestCheck(t *testing.T) {
	for replicas, want := range map[int32]string{
		5: "",
		6: `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'replicas.example.com' with binding 'everywhere' denied request: at most 5 replicas, not 6`,
	} {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: appsv1.DeploymentSpec{Replicas: &replicas}}
		got := ""
		if err := check(t.Context(), deployment); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%d replicas: got %q, want %q", replicas, got, want)
		}
	}
}

// The documentation shows this program and the webhook.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, begin := range map[string]string{"main.go": "package main\n", "store.go": "\n)\n", "policy.yaml": "", "../webhook/main.go": "package main\n"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(string(content), begin)
		if !strings.Contains(string(page), strings.TrimSpace(code)) {
			t.Errorf("docs/embedding.md does not show %s", file)
		}
	}
}

// A store decides by the policies that it has now.
func TestStore(t *testing.T) {
	c := newChecker()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(9))}}
	request := admission.NewAttributesRecord(deployment, nil, appsv1.SchemeGroupVersion.WithKind("Deployment"), "shop", "web",
		appsv1.SchemeGroupVersion.WithResource("deployments"), "", admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "jane"})
	if err := c.check(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	var p admissionv1.ValidatingAdmissionPolicy
	if err := yaml.Unmarshal(policy, &p); err != nil {
		t.Fatal(err)
	}
	// The types of k8s.io/api do as well.
	if err := c.set(&p, &kubernetesv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "everywhere"},
		Spec:       kubernetesv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: p.Name, ValidationActions: []kubernetesv1.ValidationAction{kubernetesv1.Deny}},
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.check(t.Context(), request); err == nil || !strings.Contains(err.Error(), "at most 5 replicas, not 9") {
		t.Errorf("got %v", err)
	}
	c.store.DeletePolicy(p.Name)
	if err := c.check(t.Context(), request); err != nil {
		t.Error(err)
	}
}
