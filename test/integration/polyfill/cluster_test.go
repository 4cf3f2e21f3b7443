// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package polyfill

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"
	"celador.io/polyfill/pkg/policyapi"

	"celador.io/celador/test/e2e/conformance/process"
	"celador.io/celador/test/integration/serverprocess"
	"celador.io/celador/test/integration/testserver"
)

const (
	manifests = "../../../deploy/webhook"
	system    = "celador-system"
	service   = "celador-webhook"
)

// A cluster is a kube-apiserver in which the polyfill is installed.
type cluster struct {
	testserver.Clients
	// polyfill is a client of the polyfill's kinds.
	polyfill   clientset.Interface
	server     *serverprocess.Server
	service    *balancer
	kubeconfig string
}

// install starts a kube-apiserver and installs the polyfill's manifests. What a cluster does for the
// Deployment and its Service, the test does itself: it runs the replicas as the service account, and
// the Service names the address of the balancer.
func install(t *testing.T, flags ...string) *cluster {
	t.Helper()
	server := serverprocess.StartAPIServer(t, *apiServer, flags...)
	c := &cluster{Clients: testserver.Must(testserver.NewClients(server.Admin))(t), server: server, service: startBalancer(t)}
	h := testserver.Must(rest.HTTPClientFor(server.Admin))(t)
	c.polyfill = testserver.Must(policyapi.NewForConfigAndClient(server.Admin, h))(t)
	for _, file := range append(testserver.Must(filepath.Glob(filepath.Join(manifests, "chart/crds/*.yaml")))(t), filepath.Join(manifests, "manifests/webhook.yaml")) {
		c.apply(t, file)
	}
	// The server serves the kinds of the polyfill some time after it has their definitions.
	testserver.Eventually(t, func(ctx context.Context) error {
		var errs []error
		for _, resource := range policyspec.Resources() {
			_, err := c.Objects.Resource(v1.PolyfillGroupVersion.WithResource(resource)).List(ctx, metav1.ListOptions{})
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
	serverprocess.AggregateRoles(t, c.Core)
	token := testserver.Must(c.Core.CoreV1().ServiceAccounts(system).CreateToken(t.Context(), service, &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))(t)
	config := clientcmdapi.NewConfig()
	config.Clusters["main"] = &clientcmdapi.Cluster{Server: server.Admin.Host, InsecureSkipTLSVerify: true}
	config.AuthInfos["replica"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["main"] = &clientcmdapi.Context{Cluster: "main", AuthInfo: "replica"}
	config.CurrentContext = "main"
	c.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, c.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return c
}

// apply creates the objects of a file of manifests.
func (c *cluster) apply(t *testing.T, file string) {
	t.Helper()
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Core.Discovery()))
	for document := range strings.SplitSeq(string(testserver.Must(os.ReadFile(file))(t)), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch object.GetKind() {
		case "", "Deployment", "PodDisruptionBudget":
			continue
		case "Service":
			object.Object["spec"] = map[string]any{"type": string(corev1.ServiceTypeExternalName), "externalName": "localhost"}
		}
		kind := object.GroupVersionKind()
		mapping := testserver.Must(mapper.RESTMapping(kind.GroupKind(), kind.Version))(t)
		var client dynamic.ResourceInterface = c.Objects.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			client = c.Objects.Resource(mapping.Resource).Namespace(object.GetNamespace())
		}
		testserver.Must(client.Create(t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}))(t)
	}
}

// A polyfillReplica is a running replica of the polyfill.
type polyfillReplica struct {
	*process.Process
	cluster      *cluster
	port, health int
}

// start starts a replica, to which the Service sends requests while it is ready.
func (c *cluster) start(t *testing.T, flags ...string) *polyfillReplica {
	t.Helper()
	r := &polyfillReplica{cluster: c, port: testserver.Must(process.FreePort())(t), health: testserver.Must(process.FreePort())(t)}
	dir := t.TempDir()
	r.Process = testserver.Must(process.Start(replica, testserver.Must(os.Executable())(t), dir, filepath.Join(dir, "log"), append([]string{replica,
		"--kubeconfig=" + c.kubeconfig, "--namespace=" + system, "--service-name=" + service,
		"--service-port=" + strconv.Itoa(c.service.port),
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(r.port),
		"--health-bind-address=" + net.JoinHostPort("127.0.0.1", strconv.Itoa(r.health)),
		"--shutdown-delay-duration=1s",
	}, flags...)...))(t)
	serverprocess.StopAtEnd(t, r.Process, replica)
	go r.follow(t.Context())
	return r
}

// follow tells the Service whether the replica is ready, as the endpoints of a cluster do, until the
// replica ends.
func (r *polyfillReplica) follow(ctx context.Context) {
	defer r.cluster.service.set(r.port, false)
	for {
		r.cluster.service.set(r.port, r.ready(ctx) == nil)
		select {
		case <-r.Done():
			return
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ready returns an error that says why the replica is not ready.
func (r *polyfillReplica) ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz?verbose", r.health), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New("not ready: " + response.Status)
	}
	return nil
}

// awaitReady returns when the replica is ready and the Service knows. The test fails if the replica
// ends instead.
func (r *polyfillReplica) awaitReady(t *testing.T) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		if err := r.Ended(); err != nil {
			t.Fatal(err)
		}
		if err := r.ready(ctx); err != nil {
			return err
		}
		if !r.cluster.service.has(r.port) {
			return errors.New("the Service has no endpoint for the replica")
		}
		return nil
	})
}
