// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"celador.io/polyfill/pkg/routing"
)

// FollowDigests calls set with the digest of the objects from which the registered webhooks of a
// kind were made, at first and after each change, or with nothing if there are none. configurations
// are informers that NewInformers returned. It fails if an informer has already stopped.
func FollowDigests(configurations informers.SharedInformerFactory, set func(routing.Kind, string)) error {
	follow := func(kind routing.Kind, informer cache.SharedIndexInformer) error {
		changed := func(object any) {
			if configuration, ok := object.(metav1.Object); ok {
				set(kind, configuration.GetAnnotations()[routesAnnotation])
			}
		}
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    changed,
			UpdateFunc: func(_, object any) { changed(object) },
			DeleteFunc: func(any) { set(kind, "") },
		})
		return err
	}
	informersV1 := configurations.Admissionregistration().V1()
	return errors.Join(
		follow(routing.Validating, informersV1.ValidatingWebhookConfigurations().Informer()),
		follow(routing.Mutating, informersV1.MutatingWebhookConfigurations().Informer()))
}
