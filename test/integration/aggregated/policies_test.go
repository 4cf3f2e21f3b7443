// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package aggregated

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"celador.io/celador/test/integration/testserver"
)

// Policies of the main server decide about objects of the aggregated server.
func TestPolicies(t *testing.T) {
	for _, command := range []string{celador, kubernetes} {
		t.Run(command, func(t *testing.T) {
			c := startCluster(t, command)
			limits := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bakery"}, Data: map[string]string{"loaves": "5"}}
			testserver.Must(c.Core.CoreV1().ConfigMaps(namespace).Create(t.Context(), limits, metav1.CreateOptions{}))(t)
			c.apply(t, "policies/limit.yaml", nil)
			c.apply(t, "policies/delivery.yaml", nil)
			ordersIn := c.ordersIn(namespace)

			const denied = "ValidatingAdmissionPolicy 'limit.bakery.example.com' with binding 'limit.bakery.example.com' denied request: at most 5 loaves of one bread"
			awaitDenied(t, ordersIn, 6, denied)
			testserver.ExpectAdmitted(t, dryRun(t.Context(), ordersIn, 5))
			testserver.ExpectAdmitted(t, dryRun(t.Context(), c.as(t, "baker").ordersIn(namespace), 6))
		})
	}
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

