// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"celador.io/polyfill/pkg/certificates"
)

// eventually polls the condition until it holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// newData returns the content of a new Secret, for the time outside of bubbles.
func newData(t *testing.T, service string) map[string][]byte {
	t.Helper()
	client := newClient()
	s, err := certificates.NewSecret(client, certificates.NewOptions(namespace, service))
	if err != nil {
		t.Fatal(err)
	}
	go s.Run(t.Context())
	go s.Rotate(t.Context(), registered)
	eventually(t, "no certificate", func() bool { return s.Check() == nil })
	secret, err := client.CoreV1().Secrets(namespace).Get(t.Context(), service+"-certificates", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret.Data
}

// mount replaces the files as the kubelet does: by a new directory to which a link points.
func mount(t *testing.T, dir string, data map[string][]byte) {
	t.Helper()
	version, err := os.MkdirTemp(dir, "..")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range data {
		if err := os.WriteFile(filepath.Join(version, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "..data")
	old, _ := os.Readlink(link)
	if err := os.Symlink(version, link+"_tmp"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+"_tmp", link); err != nil {
		t.Fatal(err)
	}
	for name := range data {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			continue
		}
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if old != "" {
		if err := os.RemoveAll(old); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFiles(t *testing.T) {
	first, second := newData(t, service), newData(t, service)
	dir := t.TempDir()
	mount(t, dir, first)
	f, err := certificates.NewFiles(dir, namespace, service)
	if err != nil {
		t.Fatal(err)
	}
	var changes atomic.Int64
	f.AddListener(listener(func() { changes.Add(1) }))
	go f.Run(t.Context())
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	before := mustServe(t, f, 0)

	mount(t, dir, second)
	eventually(t, "the replica did not take the new files over", func() bool {
		certificate, err := f.GetCertificate(nil)
		return err == nil && !certificate.Leaf.Equal(before.Leaf) && bytes.Equal(f.CABundle(), second["ca.crt"])
	})
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	if changes.Load() == 0 {
		t.Error("listeners did not learn of the change")
	}
	after := mustServe(t, f, 0)

	// A damaged file changes nothing, and the replica recovers from it.
	damaged := maps.Clone(second)
	damaged["tls.crt"] = damaged["tls.crt"][:100]
	mount(t, dir, damaged)
	third := newData(t, service)
	if certificate := mustServe(t, f, 0); certificate != after {
		t.Error("the replica serves a damaged certificate")
	}
	mount(t, dir, third)
	eventually(t, "the replica did not recover", func() bool {
		certificate, err := f.GetCertificate(nil)
		return err == nil && !certificate.Leaf.Equal(after.Leaf) && f.Check() == nil
	})
}

func TestUnusableFiles(t *testing.T) {
	good := newData(t, service)
	for _, missing := range []string{"tls.crt", "tls.key", "ca.crt"} {
		dir := t.TempDir()
		data := maps.Clone(good)
		delete(data, missing)
		mount(t, dir, data)
		if _, err := certificates.NewFiles(dir, namespace, service); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}

	// API servers would reject these.
	for name, data := range map[string]map[string][]byte{
		"another Service":   newData(t, "another"),
		"another authority": {"tls.crt": good["tls.crt"], "tls.key": good["tls.key"], "ca.crt": newData(t, service)["ca.crt"]},
	} {
		dir := t.TempDir()
		mount(t, dir, data)
		f, err := certificates.NewFiles(dir, namespace, service)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), "API servers reject the serving certificate") {
			t.Errorf("%s: the replica is ready: %v", name, err)
		}
	}
}
