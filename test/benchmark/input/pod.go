// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package input

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pod returns a pod with three containers, as a controller sends it, and with the given additional
// volumes.
func Pod(volumes ...corev1.Volume) *corev1.Pod {
	metadata := metadata(map[string]string{"app": "shop", "team": "shop", "pod-template-hash": "7d9c5b6f4"})
	metadata.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d9c5b6f4", UID: "u2", Controller: new(true)}}
	spec := template(nil).Spec
	spec.ServiceAccountName = "shop"
	spec.NodeSelector = map[string]string{corev1.LabelArchStable: "amd64"}
	spec.Tolerations = []corev1.Toleration{{Key: "example.com/shared", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
	spec.Volumes = append([]corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "shop"}}}},
		{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}, volumes...)
	return &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metadata, Spec: spec}
}

// NFS is a volume because of which a pod satisfies the first match condition of webhooks.
var NFS = corev1.Volume{Name: "archive", VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nfs.example.com", Path: "/"}}}
