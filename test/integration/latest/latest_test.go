// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package latest tests lookups with consistency Latest on a server whose watches of etcd are late,
// while another server of the cluster writes. Both run in processes of their own.
package latest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/pkg/controlplane"
	"celador.io/celador/test/integration/serverprocess"
	"celador.io/celador/test/integration/testserver"
)

// celador is the name of the server.
const celador = "celador"

func TestMain(m *testing.M) {
	os.Exit(serverprocess.Main(m, map[string]func() *cobra.Command{celador: controlplane.NewAPIServerCommand}))
}

const seats = `
metadata: {name: seats.latest.example.com}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: latest.example.com
  names: {kind: Seat, plural: seats}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}`

// A cluster has a server that writes and one that reads, whose watches the proxy delays.
type cluster struct {
	proxy          *etcdProxy
	writer, reader testserver.Clients
	// namespace is that of the objects, and present has the kinds of which one with the name "key"
	// exists there.
	namespace string
	present   map[string]bool
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{proxy: startProxy(t, serverprocess.EtcdURL()), present: map[string]bool{}}
	flags := []string{"--etcd-prefix=/" + testserver.UniqueName("latest"), "--feature-gates=AdmissionPolicyLookups=true"}
	writer := serverprocess.LaunchAPIServer(t, celador, flags...)
	reader := serverprocess.LaunchAPIServer(t, celador, append(flags, "--etcd-servers="+c.proxy.url)...)
	for server, clients := range map[*serverprocess.Server]*testserver.Clients{writer: &c.writer, reader: &c.reader} {
		server.AwaitReady(t)
		*clients = testserver.Must(testserver.NewClients(server.Admin))(t)
	}
	c.namespace = c.writer.Namespace(t, nil)
	return c
}

// deny binds a policy that denies each config map of a new namespace, and tells in its message which
// objects it finds. It returns the namespace.
func (c *cluster) deny(t *testing.T, consistency string) (namespace string) {
	t.Helper()
	namespace = c.writer.Namespace(t, nil)
	name, client := testserver.UniqueName("policy"), c.writer.Policies.AdmissionregistrationV1()
	testserver.Create(t, client.ValidatingAdmissionPolicies(), &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, `
matchConstraints:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+namespace+`}}
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
lookups:
- {name: secrets, apiVersion: v1, kind: Secret, scope: Cluster, consistency: `+consistency+`, index: item.metadata.name}
- {name: seats, apiVersion: latest.example.com/v1, kind: Seat, scope: Cluster, consistency: `+consistency+`, index: item.metadata.name}
variables:
- name: secret
  expression: lookups.secrets.get('`+c.namespace+`', 'key').hasValue()
- name: seat
  expression: lookups.seats.get('`+c.namespace+`', 'key').hasValue()
validations:
- message: an index differs
  expression: "lookups.secrets.indexed('key').size() == (variables.secret ? 1 : 0) && lookups.seats.indexed('key').size() == (variables.seat ? 1 : 0)"
- {expression: "false", messageExpression: "'found secret ' + string(variables.secret) + ', seat ' + string(variables.seat)"}`),
	})
	testserver.Create(t, client.ValidatingAdmissionPolicyBindings(), &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []v1.ValidationAction{v1.Deny}},
	})
	testserver.Eventually(t, func(ctx context.Context) error { return c.expect(ctx, namespace) })
	return namespace
}

// expect returns an error unless the policy of a namespace finds what is present.
func (c *cluster) expect(ctx context.Context, namespace string) error {
	_, err := c.reader.Core.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	want := fmt.Sprintf("found secret %t, seat %t", c.present["secret"], c.present["seat"])
	if err == nil || !strings.Contains(err.Error(), want) {
		return fmt.Errorf("got error %v, want %q", err, want)
	}
	return nil
}

// change creates the object of a kind or deletes it. The object is stored when change
// returns.
func (c *cluster) change(t *testing.T, kind string) {
	t.Helper()
	var err error
	secrets := c.writer.Core.CoreV1().Secrets(c.namespace)
	seats := c.writer.Objects.Resource(schema.GroupVersionResource{Group: "latest.example.com", Version: "v1", Resource: "seats"}).Namespace(c.namespace)
	switch {
	case kind == "secret" && c.present[kind]:
		err = secrets.Delete(t.Context(), "key", metav1.DeleteOptions{})
	case kind == "secret":
		_, err = secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "key"}}, metav1.CreateOptions{})
	case c.present[kind]:
		err = seats.Delete(t.Context(), "key", metav1.DeleteOptions{})
	default:
		seat := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "latest.example.com/v1", "kind": "Seat", "metadata": map[string]any{"name": "key"}}}
		_, err = seats.Create(t.Context(), seat, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	c.present[kind] = !c.present[kind]
}

// Latest lookups never find less than what another server has acknowledged before the request.
func TestLatest(t *testing.T) {
	c := newCluster(t)
	c.writer.Define(t, seats)
	latest, cached := c.deny(t, "Latest"), c.deny(t, "Cached")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	t.Run("random delays", func(t *testing.T) {
		delays := rand.New(rand.NewPCG(seed, 1))
		c.proxy.setDelay(func() time.Duration { return time.Duration(delays.Int64N(int64(30 * time.Millisecond))) })
		defer c.proxy.setDelay(func() time.Duration { return 0 })
		for range 100 {
			c.change(t, []string{"secret", "seat"}[random.IntN(2)])
			if err := c.expect(t.Context(), latest); err != nil {
				t.Fatal(err)
			}
		}
	})
	for _, kind := range []string{"secret", "seat"} {
		t.Run("held watches of "+kind, func(t *testing.T) {
			for range 2 {
				c.change(t, kind)
				testserver.Eventually(t, func(ctx context.Context) error { return c.expect(ctx, cached) })
				release := c.proxy.hold()
				defer release()
				c.change(t, kind)
				c.present[kind] = !c.present[kind]
				if err := c.expect(t.Context(), cached); err != nil {
					t.Errorf("cached objects are not those from before the watches were held: %v", err)
				}
				c.present[kind] = !c.present[kind]
				if err := c.expect(t.Context(), latest); err == nil || !strings.Contains(err.Error(), "waiting for ") {
					t.Errorf("latest objects while the watches are held: %v", err)
				}
				release()
				testserver.Eventually(t, func(ctx context.Context) error { return c.expect(ctx, latest) })
			}
		})
	}
}
