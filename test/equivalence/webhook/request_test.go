// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/apis/authorization"

	"celador.io/celador/test/equivalence/harness"
)

// reviews are the resources that plugins never call webhooks for.
var reviews = []schema.GroupResource{authorizationv1.SchemeGroupVersion.WithResource("subjectaccessreviews").GroupResource()}

var objects = harness.Objects{Deployment: deploy, Widget: widget}

// deploy returns a deployment with defaults.
func deploy(namespace, name string, replicas int32) runtime.Object {
	return harness.Received(&appsv1.Deployment{ObjectMeta: harness.Metadata(namespace, name), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/shop:1.2"}}}},
	}})
}

// fixed are the requests that all examples compare, by name.
var (
	fixed      = requests()
	fixedNames = harness.Names(fixed)
)

func requests() map[string]request {
	all := objects.Requests()
	create := all["create"]
	maps.Copy(all, map[string]request{
		"create abandoned":      create.With(func(r *request) { r.Timeout = -1 }),
		"create hurried":        create.With(func(r *request) { r.Timeout = 1900 * time.Millisecond }),
		"create touched":        create.With(func(r *request) { r.Touch = touch }),
		"create untouched":      create.With(func(r *request) { r.Touch = func(runtime.Object) {} }),
		"create widget touched": all["create widget"].With(func(r *request) { r.Touch = touch }),
		"create review": {
			Operation: admission.Create, Resource: reviews[0].WithVersion("v1"), Kind: authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview"),
			Object: &authorization.SubjectAccessReview{}, Options: &metav1.CreateOptions{}, User: harness.Jane,
		},
	})
	return all
}
