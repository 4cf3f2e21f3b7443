// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const nodeName = "conformance"

// readyStatus is a patch of a node's status. With it, the node looks as if it had a kubelet that is
// ready.
const readyStatus = `{"status": {
	"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
	"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
	"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
	"conditions": [{"type": "Ready", "status": "True", "reason": "NoKubelet"}]
}}`

// addNode creates a node object that is ready and schedulable. Without one, the suite of specs does
// not begin.
func addNode(ctx context.Context, client kubernetes.Interface) error {
	nodes := client.CoreV1().Nodes()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   nodeName,
		Labels: map[string]string{corev1.LabelHostname: nodeName, corev1.LabelOSStable: "linux"},
	}}
	if _, err := nodes.Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("cannot create the node: %w", err)
	}
	// Admission taints every new node as not ready. No controller runs that would remove the taint.
	_, err := nodes.Patch(ctx, nodeName, types.MergePatchType, []byte(`{"spec": {"taints": null}}`), metav1.PatchOptions{})
	if err == nil {
		_, err = nodes.Patch(ctx, nodeName, types.MergePatchType, []byte(readyStatus), metav1.PatchOptions{}, "status")
	}
	if err != nil {
		return fmt.Errorf("cannot make the node ready: %w", err)
	}
	return nil
}
