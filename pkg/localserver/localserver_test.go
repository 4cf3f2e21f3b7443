// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/version"

	"celador.io/celador/pkg/localserver"
)

func start(t *testing.T, o localserver.Options) (*localserver.Server, kubernetes.Interface) {
	t.Helper()
	server, err := localserver.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server, clientFor(t, server.RESTConfig())
}

func clientFor(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func port(t *testing.T, server *localserver.Server) int {
	t.Helper()
	parsed, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(parsed.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestLifecycle is one test, because a process can run one server at a time and each start takes
// seconds.
func TestLifecycle(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "data")
	var progress []string
	server, client := start(t, localserver.Options{DataDir: dir, Progress: func(line string) { progress = append(progress, line) }})

	if want := []string{"etcd is up", "kube-apiserver is up at " + server.URL()}; !slices.Equal(progress, want) {
		t.Errorf("progress %q, want %q", progress, want)
	}
	if ready, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil || string(ready) != "ok" {
		t.Errorf("/readyz: %q, %v", ready, err)
	}
	if served, err := client.Discovery().ServerVersion(); err != nil || served.GitVersion != version.Get().GitVersion {
		t.Errorf("version %v, %v", served, err)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "kept"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	t.Run("anonymous clients are refused", func(t *testing.T) {
		anonymous := clientFor(t, rest.AnonymousClientConfig(server.RESTConfig()))
		if _, err := anonymous.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{}); err == nil {
			t.Error("an anonymous client lists configmaps")
		}
	})
	t.Run("data directory in use", func(t *testing.T) {
		fails(ctx, t, localserver.Options{DataDir: dir},
			fmt.Sprintf("data directory %s is in use by another server (process %d)", dir, os.Getpid()))
	})
	t.Run("port taken", func(t *testing.T) {
		taken := port(t, server)
		fails(ctx, t, localserver.Options{DataDir: t.TempDir(), SecurePort: taken}, fmt.Sprintf("port %d of 127.0.0.1 is taken", taken))
	})

	kubeconfig, err := os.ReadFile(server.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	first := port(t, server)
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Errorf("second stop: %v", err)
	}
	select {
	case <-server.Done():
	default:
		t.Error("a stopped server is not done")
	}

	t.Run("restart", func(t *testing.T) {
		server, client := start(t, localserver.Options{
			DataDir: dir, SecurePort: first, APIServerArgs: []string{"--runtime-config=apps/v1=false"},
		})
		if port(t, server) != first {
			t.Errorf("serves on %s, want port %d", server.URL(), first)
		}
		if _, err := client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{}); err == nil {
			t.Error("the arguments had no effect: apps/v1 is served")
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := clientFor(t, config).CoreV1().ConfigMaps("default").Get(ctx, "kept", metav1.GetOptions{}); err != nil {
			t.Errorf("the object from before, with the kubeconfig from before: %v", err)
		}
	})
	t.Run("corrupt data", func(t *testing.T) {
		database := filepath.Join(dir, "etcd", "member", "snap", "db")
		if err := os.WriteFile(database, []byte("garbage"), 0o600); err != nil {
			t.Fatal(err)
		}
		fails(ctx, t, localserver.Options{DataDir: dir}, "etcd cannot use its data in "+filepath.Join(dir, "etcd"))
	})
}

func TestStartErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, test := range []struct {
		name    string
		options localserver.Options
		want    string
	}{
		{"no directory", localserver.Options{}, "no data directory given"},
		{"a file", localserver.Options{DataDir: file}, "data directory " + file + " cannot be written to: not a directory"},
		{"unknown flag", localserver.Options{DataDir: dir, APIServerArgs: []string{"--x"}}, "kube-apiserver arguments: unknown flag: --x"},
		{"bad value", localserver.Options{DataDir: dir, APIServerArgs: []string{"--authorization-mode=X"}},
			`kube-apiserver arguments: authorization-mode "X" is not a valid mode`},
		{"missing file", localserver.Options{DataDir: dir, APIServerArgs: []string{"--audit-policy-file=/none"}},
			`kube-apiserver: loading audit policy file: failed to read file path "/none"`},
	} {
		t.Run(test.name, func(t *testing.T) { fails(t.Context(), t, test.options, test.want) })
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	outOfTime := errors.New("out of time")
	// The context ends before any part starts, after etcd has started, and after the kube-apiserver
	// has started.
	for steps := range 3 {
		ctx, cancel := context.WithCancelCause(t.Context())
		passed := 0
		step := func(string) {
			if passed == steps {
				cancel(outOfTime)
			}
			passed++
		}
		step("")
		_, err := localserver.Start(ctx, localserver.Options{DataDir: dir, Progress: step})
		if !errors.Is(err, outOfTime) {
			t.Errorf("its context ended after step %d: got error %v", steps, err)
		}
		cancel(nil)
	}
	// The next server can start.
	start(t, localserver.Options{DataDir: dir})
}

// fails checks that Start returns an error of one line that contains want.
func fails(ctx context.Context, t *testing.T, o localserver.Options, want string) {
	t.Helper()
	server, err := localserver.Start(ctx, o)
	if err == nil {
		t.Fatalf("started, stopped: %v", server.Stop())
	}
	if text := err.Error(); !strings.Contains(text, want) || strings.Contains(text, "\n") {
		t.Errorf("got error %q, want one line with %q", text, want)
	}
}
