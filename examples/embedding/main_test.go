// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// The documentation shows this program.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"main.go", "policy.yaml"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(string(content), "package main\n")
		if file != "main.go" {
			code = string(content)
		}
		if !strings.Contains(string(page), strings.TrimSpace(code)) {
			t.Errorf("docs/embedding.md does not show %s", file)
		}
	}
}
