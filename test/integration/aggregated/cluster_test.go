// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package aggregated

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
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

	bakery "celador.io/celador/examples/aggregated-apiserver/bakery/v1"
	"celador.io/celador/test/integration/serverprocess"
	"celador.io/celador/test/integration/testserver"
)

const (
	example   = "../../../examples/aggregated-apiserver"
	namespace = "bakery"
	account   = "orders-apiserver"
)

// A cluster is a main server and the example.
type cluster struct {
	testserver.Clients
	main, orders *serverprocess.Server
}

// startCluster starts a main server, applies the example's manifests, and returns once the
// example's server is ready. In the place of a Deployment, it runs that server itself, with
// additional flags, as the service account. The main server does not know it until register.
func startCluster(t *testing.T, command string, mainFlags, orderFlags []string) *cluster {
	t.Helper()
	main := serverprocess.StartAPIServer(t, command, mainFlags...)
	c := &cluster{Clients: testserver.Must(testserver.NewClients(main.Admin))(t), main: main}
	serverprocess.AggregateRoles(t, c.Core)
	c.apply(t, "deploy/namespace.yaml", nil)
	c.apply(t, "deploy/rbac.yaml", nil)
	c.orders = c.runOrders(t, account, orderFlags...)
	c.orders.AwaitReady(t)
	return c
}

// register registers the example's server, and returns once the main server proxies requests for
// orders.
func (c *cluster) register(t *testing.T) {
	t.Helper()
	c.apply(t, "local.yaml", nil)
	c.apply(t, "deploy/apiservice.yaml", func(object *unstructured.Unstructured) {
		testserver.ExpectAdmitted(t, unstructured.SetNestedField(object.Object, int64(c.orders.Port), "spec", "service", "port"))
	})
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := c.ordersIn(namespace).List(ctx, metav1.ListOptions{})
		return err
	})
}

// runOrders starts the example's server as a service account. It does not wait until the server is
// ready.
func (c *cluster) runOrders(t *testing.T, account string, flags ...string) *serverprocess.Server {
	t.Helper()
	token := testserver.Must(c.Core.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))(t)
	config := clientcmdapi.NewConfig()
	config.Clusters["main"] = &clientcmdapi.Cluster{Server: c.main.Admin.Host, InsecureSkipTLSVerify: true}
	config.AuthInfos["server"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["main"] = &clientcmdapi.Context{Cluster: "main", AuthInfo: "server"}
	config.CurrentContext = "main"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return serverprocess.Start(t, orders, c.main.Admin.BearerToken, append([]string{
		"--kubeconfig=" + path, "--authentication-kubeconfig=" + path, "--authorization-kubeconfig=" + path,
	}, flags...)...)
}

// apply creates the objects of a manifest of the example, after change, if not nil, has changed
// them.
func (c *cluster) apply(t *testing.T, manifest string, change func(*unstructured.Unstructured)) {
	t.Helper()
	text := testserver.Must(os.ReadFile(filepath.Join(example, manifest)))(t)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Core.Discovery()))
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &object.Object); err != nil {
			t.Fatalf("%s: %v", manifest, err)
		}
		if change != nil {
			change(object)
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

// ordersIn returns a client of the orders in a namespace, by way of the main server.
func (c *cluster) ordersIn(namespace string) dynamic.ResourceInterface {
	return c.Objects.Resource(bakery.GroupVersion.WithResource("orders")).Namespace(namespace)
}

// as returns the cluster with clients of a user who may do everything.
func (c *cluster) as(t *testing.T, user string) *cluster {
	t.Helper()
	return &cluster{c.As(t, user, "system:masters"), c.main, c.orders}
}

// direct returns a client of the orders in the namespace of the example. Its requests go to their
// server, without the proxy of the main server.
func direct(t *testing.T, config *rest.Config) dynamic.ResourceInterface {
	t.Helper()
	return testserver.Must(dynamic.NewForConfig(config))(t).Resource(bakery.GroupVersion.WithResource("orders")).Namespace(namespace)
}

// order returns an order of some loaves of rye bread.
func order(loaves int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": bakery.GroupVersion.String(), "kind": "Order",
		"metadata": map[string]any{"generateName": "order-"},
		"spec":     map[string]any{"customer": "Ada", "items": []any{map[string]any{"bread": "rye", "loaves": loaves}}},
	}}
}
