// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestKubeconfig(t *testing.T) {
	files := newPKI(t, loopback)
	admin, err := adminConfig("https://127.0.0.1:1", files)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := writeKubeconfig(path, admin); err != nil {
		t.Fatal(err)
	}

	got, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if got.Host != admin.Host || got.Insecure {
		t.Errorf("host %q, insecure %v", got.Host, got.Insecure)
	}
	for _, config := range []*rest.Config{got, admin} {
		// The credentials must work after the data directory has moved.
		if config.CAFile != "" || config.CertFile != "" || config.KeyFile != "" || len(config.CAData) == 0 {
			t.Errorf("credentials are not embedded: %v", config)
		}
		if _, err := rest.TLSConfigFor(config); err != nil {
			t.Error(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestKubeconfigSecondStart(t *testing.T) {
	files := newPKI(t, loopback)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	start := func(url string) {
		admin, err := adminConfig(url, files)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeKubeconfig(path, admin); err != nil {
			t.Fatal(err)
		}
	}
	namespace := func() (server, namespace string) {
		config, err := clientcmd.LoadFromFile(path)
		if err != nil {
			t.Fatal(err)
		}
		context := config.Contexts[config.CurrentContext]
		return config.Clusters[context.Cluster].Server, context.Namespace
	}

	start("https://127.0.0.1:1")
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = "mine"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	start("https://127.0.0.1:2")
	if server, namespace := namespace(); server != "https://127.0.0.1:2" || namespace != "mine" {
		t.Errorf("after a start on another port: server %q, namespace %q", server, namespace)
	}

	write(t, path, "garbage")
	start("https://127.0.0.1:3")
	if server, _ := namespace(); server != "https://127.0.0.1:3" {
		t.Errorf("after a start with an unreadable file: server %q", server)
	}
}
