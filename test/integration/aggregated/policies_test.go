// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package aggregated

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"celador.io/celador/test/integration/testserver"
)

// Policies of the main server decide about objects of the aggregated server.
func TestPolicies(t *testing.T) {
	for _, command := range []string{celador, kubernetes} {
		t.Run(command, func(t *testing.T) {
			c := startCluster(t, command, nil, nil)
			c.apply(t, "policies/delivery.yaml", nil)
			// The server knows the schemas of its own types, whatever the main server knows.
			awaitMutated(t, direct(t, c.orders.Admin))
			c.register(t)
			limits := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bakery"}, Data: map[string]string{"loaves": "5"}}
			testserver.Must(c.Core.CoreV1().ConfigMaps(namespace).Create(t.Context(), limits, metav1.CreateOptions{}))(t)
			c.apply(t, "policies/limit.yaml", nil)
			ordersIn := c.ordersIn(namespace)

			const denied = "ValidatingAdmissionPolicy 'limit.bakery.example.com' with binding 'limit.bakery.example.com' denied request: at most 5 loaves of one bread"
			awaitDenied(t, ordersIn, 6, denied)
			testserver.ExpectAdmitted(t, dryRun(t.Context(), ordersIn, 5))
			testserver.ExpectAdmitted(t, dryRun(t.Context(), c.as(t, "baker").ordersIn(namespace), 6))

			begin := time.Now()
			limits.Data["loaves"] = "4"
			testserver.Must(c.Core.CoreV1().ConfigMaps(namespace).Update(t.Context(), limits, metav1.UpdateOptions{}))(t)
			awaitDenied(t, ordersIn, 5, "at most 4 loaves")
			t.Logf("a changed param took effect after %v", time.Since(begin))

			policies := c.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
			policy := testserver.Must(policies.Get(t.Context(), "limit.bakery.example.com", metav1.GetOptions{}))(t)
			policy.Spec.Validations[0].MessageExpression = "'no more bread'"
			begin = time.Now()
			testserver.Must(policies.Update(t.Context(), policy, metav1.UpdateOptions{}))(t)
			awaitDenied(t, ordersIn, 5, "denied request: no more bread")
			t.Logf("a changed policy took effect after %v", time.Since(begin))

			testMissingPermissions(t, c)
			testMissingParamPermissions(t, c)
		})
	}
}

// A server whose user may not read policies is not ready, says which permissions it needs in its
// log, and refuses writes with them. It is ready once it has the permissions.
func testMissingPermissions(t *testing.T, c *cluster) {
	bindings := c.Core.RbacV1().ClusterRoleBindings()
	binding := testserver.Must(bindings.Get(t.Context(), "orders-apiserver-policies", metav1.GetOptions{}))(t)
	if err := bindings.Delete(t.Context(), binding.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	blind := c.runOrders(t, account)
	const missing = "watch validatingadmissionpolicybindings.admissionregistration.k8s.io"
	awaitDenied(t, direct(t, blind.Admin), 1, missing)
	if log := string(testserver.Must(os.ReadFile(blind.Log()))(t)); !strings.Contains(log, missing) {
		t.Errorf("the log does not say %q", missing)
	}
	binding.ObjectMeta = metav1.ObjectMeta{Name: binding.Name}
	testserver.Must(bindings.Create(t.Context(), binding, metav1.CreateOptions{}))(t)
	blind.AwaitReady(t)
	awaitDenied(t, direct(t, blind.Admin), 5, "denied request: no more bread")
}

// A server whose user may not read the params of a policy says so in its log, in its check of
// params and in the error of a write, and knows them once it has the permission.
func testMissingParamPermissions(t *testing.T, c *cluster) {
	bindings := c.Core.RbacV1().ClusterRoleBindings()
	binding := testserver.Must(bindings.Get(t.Context(), "orders-apiserver-params", metav1.GetOptions{}))(t)
	if err := bindings.Delete(t.Context(), binding.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	blind := c.runOrders(t, account)
	const forbidden = `configmaps is forbidden: User "system:serviceaccount:bakery:orders-apiserver" cannot list resource "configmaps"`
	awaitDenied(t, direct(t, blind.Admin), 1, forbidden)
	client := testserver.Must(testserver.NewClients(blind.Admin))(t).Core.Discovery().RESTClient()
	text, err := client.Get().AbsPath("/readyz/policy-param-sync").Do(t.Context()).Raw()
	if err == nil || !strings.Contains(string(text), forbidden) {
		t.Errorf("the readiness check answers %q, error %v, want %q", text, err, forbidden)
	}
	log := string(testserver.Must(os.ReadFile(blind.Log()))(t))
	if !strings.Contains(log, "Params cannot be read: grant the user of this server the permissions") {
		t.Errorf("the log does not say which permission is missing:\n%s", log)
	}
	t.Logf("the readiness check: %s\nthe write: %v", text, dryRun(t.Context(), direct(t, blind.Admin), 1))
	binding.ObjectMeta = metav1.ObjectMeta{Name: binding.Name}
	begin := time.Now()
	testserver.Must(bindings.Create(t.Context(), binding, metav1.CreateOptions{}))(t)
	awaitDenied(t, direct(t, blind.Admin), 5, "denied request: no more bread")
	t.Logf("a permission for params took effect after %v", time.Since(begin))
	blind.AwaitReady(t)
}

// awaitMutated waits until the policy about deliveries changes an order.
func awaitMutated(t *testing.T, orders dynamic.ResourceInterface) {
	t.Helper()
	want := map[string]any{"customer": "Ada", "delivery": "pickup", "items": []any{
		map[string]any{"bread": "rye", "loaves": int64(1)}, map[string]any{"bread": "roll", "loaves": int64(1)},
	}}
	testserver.Eventually(t, func(ctx context.Context) error {
		created, err := orders.Create(ctx, order(1), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, created.Object["spec"]); diff != "" {
			return fmt.Errorf("spec (-want +got):\n%s", diff)
		}
		return nil
	})
}

// dryRun returns the error of a request that would create an order.
func dryRun(ctx context.Context, orders dynamic.ResourceInterface, loaves int64) error {
	_, err := orders.Create(ctx, order(loaves), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// awaitDenied waits until orders are denied with the message.
func awaitDenied(t *testing.T, orders dynamic.ResourceInterface, loaves int64, message string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		if err := dryRun(ctx, orders, loaves); err == nil || !strings.Contains(err.Error(), message) {
			return fmt.Errorf("got error %w for %d loaves, want %q", err, loaves, message)
		}
		return nil
	})
}
