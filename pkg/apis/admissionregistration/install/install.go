// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package install registers all versions of admissionregistration.k8s.io.
package install

import (
	upstreamv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	upstream "k8s.io/kubernetes/pkg/apis/admissionregistration"
	upstreaminternalv1 "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/apis/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration/v1alpha1"
	"celador.io/celador/pkg/apis/admissionregistration/v1beta1"
)

// Install registers the types that the storage of the group needs: the policy kinds in their
// internal and all served versions, and upstream's types of the two webhook configuration kinds.
// The scheme must not contain upstream's policy kinds. Install panics if a registration fails.
func Install(scheme *runtime.Scheme) {
	utilruntime.Must(admissionregistration.AddToScheme(scheme))
	Versions(scheme)

	scheme.AddKnownTypes(upstream.SchemeGroupVersion,
		&upstream.ValidatingWebhookConfiguration{}, &upstream.ValidatingWebhookConfigurationList{},
		&upstream.MutatingWebhookConfiguration{}, &upstream.MutatingWebhookConfigurationList{},
	)
	scheme.AddKnownTypes(upstreamv1.SchemeGroupVersion,
		&upstreamv1.ValidatingWebhookConfiguration{}, &upstreamv1.ValidatingWebhookConfigurationList{},
		&upstreamv1.MutatingWebhookConfiguration{}, &upstreamv1.MutatingWebhookConfigurationList{},
	)
	utilruntime.Must(upstreaminternalv1.RegisterConversions(scheme))
	utilruntime.Must(upstreaminternalv1.RegisterDefaults(scheme))
}

// Versions registers the policy kinds in their served versions and prefers v1. OpenAPI generation
// needs a scheme without the internal version. Versions panics if a registration fails.
func Versions(scheme *runtime.Scheme) {
	metav1.AddToGroupVersion(scheme, metav1.Unversioned)
	utilruntime.Must(v1.AddToScheme(scheme))
	utilruntime.Must(v1beta1.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	utilruntime.Must(scheme.SetVersionPriority(v1.SchemeGroupVersion, v1beta1.SchemeGroupVersion, v1alpha1.SchemeGroupVersion))
}
