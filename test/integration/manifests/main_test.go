// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifests tests admission configuration from files on the server's disk. Each
// test runs a server of its own.
package manifests

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"celador.io/client-go/clientset"

	"celador.io/celador/test/integration/testserver"
)

// configure writes an admission configuration that has plugins read their manifests
// from directories, and returns the flag that names it.
func configure(t *testing.T, dirs map[string]string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n")
	for plugin, dir := range dirs {
		kind := plugin + "Configuration"
		if strings.HasSuffix(plugin, "Webhook") {
			kind = "WebhookAdmissionConfiguration"
		}
		fmt.Fprintf(&text, "- name: %s\n  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: %s, staticManifestsDir: %q}\n", plugin, kind, dir)
	}
	file := filepath.Join(t.TempDir(), "admission.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--admission-control-config-file=" + file
}

// write puts a file into a directory at once, as far as the server can see.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	temporary := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(temporary, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temporary, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

type clients struct {
	core     kubernetes.Interface
	policies clientset.Interface
}

func clientsWith(t *testing.T, config *rest.Config) clients {
	t.Helper()
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	policies, err := clientset.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients{core, policies}
}

// write asks for a config map with a label, as a dry run.
func (c clients) write(ctx context.Context, label string) error {
	_, err := c.core.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "data-", Labels: map[string]string{"write": label}},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// expect wants an error that has the text, or none for an empty text.
func expect(err error, text string) error {
	switch {
	case text == "" && err != nil:
		return fmt.Errorf("got error %w, want none", err)
	case text != "" && (err == nil || !strings.Contains(err.Error(), text)):
		return fmt.Errorf("got error %w, want %s", err, text)
	}
	return nil
}

func check(t *testing.T, err error, text string) {
	t.Helper()
	if err := expect(err, text); err != nil {
		t.Error(err)
	}
}

// eventually wants an outcome of writes with a label from some time on.
func (c clients) eventually(t *testing.T, label, text string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error { return expect(c.write(ctx, label), text) })
}
