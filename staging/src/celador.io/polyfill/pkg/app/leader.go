// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"os"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// newLeader returns a function that takes part in the election of a leader until its context ends.
// Each time this replica becomes the leader, it runs the given functions, with a context that ends
// when the replica is no longer the leader. The functions of two replicas may run at the same time
// for a moment. In one replica, those of two terms never do.
func newLeader(o *Options, client kubernetes.Interface, functions ...func(context.Context)) (lead func(context.Context), err error) {
	hostname, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: o.Namespace, Name: o.ServiceName},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: hostname + "_" + string(uuid.NewUUID())},
	}
	var running sync.Mutex // while the functions of one term run
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: o.ServiceName, Lock: lock, ReleaseOnCancel: true,
		LeaseDuration: o.LeaseDuration, RenewDeadline: o.RenewDeadline, RetryPeriod: o.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				running.Lock()
				defer running.Unlock()
				klog.FromContext(ctx).Info("Leading")
				var term sync.WaitGroup
				defer term.Wait()
				for _, run := range functions {
					term.Go(func() { run(ctx) })
				}
			},
			OnStoppedLeading: func() { klog.Background().Info("Not leading any more") },
		},
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		for ctx.Err() == nil {
			elector.Run(ctx)
		}
	}, nil
}
