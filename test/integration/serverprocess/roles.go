// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serverprocess

import (
	"context"
	"testing"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
)

// AggregateRoles runs the controller that fills cluster roles with an aggregationRule, until the
// end of the test. In a cluster, kube-controller-manager runs it.
func AggregateRoles(t *testing.T, client kubernetes.Interface) {
	factory := informers.NewSharedInformerFactory(client, 0)
	controller := clusterroleaggregation.NewClusterRoleAggregation(factory.Rbac().V1().ClusterRoles(), client.RbacV1())
	ctx, cancel := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	done := make(chan struct{})
	go func() {
		defer close(done)
		controller.Run(ctx, 1)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		factory.Shutdown()
	})
}
