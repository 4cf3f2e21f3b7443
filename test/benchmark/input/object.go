// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package input

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Allowed is a number of replicas that no policy of Policy or RealisticPolicy denies, and Excessive
// one that all policies of Policy deny.
const (
	Allowed   = 3
	Excessive = 1_000_000
)

// Deployment returns a deployment with three containers, as a client sends it.
func Deployment(replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": "shop"}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metadata(labels),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: template(labels),
		},
	}
}

// StatefulSet returns a StatefulSet with the same containers.
func StatefulSet(replicas int32) *appsv1.StatefulSet {
	labels := map[string]string{"app": "shop"}
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metadata(labels),
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: template(labels),
		},
	}
}

func metadata(labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: NamespaceName, Name: "web", Labels: labels,
		Annotations: map[string]string{"example.com/owner": "team shop"},
	}
}

func template(labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			container("web", 8080), container("proxy", 15001), container("metrics", 9090),
		}},
	}
}

func container(name string, port int32) corev1.Container {
	return corev1.Container{
		Name:  name,
		Image: "registry.example.com/shared/" + name + ":1.2.3",
		Args:  []string{"--verbose", "--config=/etc/" + name + "/config.yaml"},
		Ports: []corev1.ContainerPort{{Name: "main", ContainerPort: port}},
		Env:   []corev1.EnvVar{{Name: "ENVIRONMENT", Value: "production"}, {Name: "REGION", Value: "north"}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
		},
		ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(port)},
		}},
	}
}
