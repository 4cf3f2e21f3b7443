// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"os"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestKubeadmPatch tests that the patch of the static pod names the image of "make image".
func TestKubeadmPatch(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^VERSION := (\S+)$`).FindSubmatch(makefile)
	if version == nil {
		t.Fatal("the Makefile has no VERSION")
	}
	patch, err := os.ReadFile("kubeadm/patches/kube-apiserver0+strategic.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict(patch, &pod); err != nil {
		t.Fatal(err)
	}
	want := "celador.io/kube-apiserver:" + strings.ReplaceAll(string(version[1]), "+", "_")
	if len(pod.Spec.Containers) != 1 || pod.Spec.Containers[0].Name != "kube-apiserver" || pod.Spec.Containers[0].Image != want {
		t.Errorf("got containers %+v, want kube-apiserver with the image %s", pod.Spec.Containers, want)
	}
}
