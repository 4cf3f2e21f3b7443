// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifests tests policies and webhooks from manifest files. Each test runs its own
// server.
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

	"celador.io/celador/test/integration/testserver"
)

// configure writes an admission configuration that maps plugins to manifest directories, and
// returns the flag that names it.
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

// write creates or replaces a file atomically.
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

// clients are clients of a server with one configuration.
type clients struct{ testserver.Clients }

// write creates a config map with a label in a dry run.
func (c clients) write(ctx context.Context, label string) error {
	_, err := c.Core.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "data-", Labels: map[string]string{"write": label}},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// expect returns an error unless err contains the text, or is nil if the text is empty.
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

// eventually waits until writes with a label have the expected result.
func (c clients) eventually(t *testing.T, label, text string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error { return expect(c.write(ctx, label), text) })
}
