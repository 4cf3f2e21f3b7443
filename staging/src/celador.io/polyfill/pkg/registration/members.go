// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"celador.io/polyfill/pkg/routing"
)

// recorded returns the policies of the webhooks of a configuration, which the leader recorded, or
// nothing if there is no record that can be read.
func recorded(o metav1.Object) routing.Members {
	encoded, ok := o.GetAnnotations()[routesAnnotation]
	if !ok {
		return nil
	}
	var members routing.Members
	if err := json.Unmarshal([]byte(encoded), &members); err != nil {
		klog.Background().Error(err, "The policies of webhooks cannot be read", "kind", kindOf(o), "name", Name, "annotation", routesAnnotation)
		return nil
	}
	return members
}

// FollowMembers calls set with the policies of the registered webhooks of a kind, at first and
// after each change. configurations are informers that NewInformers returned. It fails if an
// informer has already stopped.
func FollowMembers(configurations informers.SharedInformerFactory, set func(routing.Kind, routing.Members)) error {
	follow := func(kind routing.Kind, informer cache.SharedIndexInformer) error {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { set(kind, recorded(object.(metav1.Object))) },
			UpdateFunc: func(_, object any) { set(kind, recorded(object.(metav1.Object))) },
			DeleteFunc: func(any) { set(kind, nil) },
		})
		return err
	}
	informersV1 := configurations.Admissionregistration().V1()
	return errors.Join(
		follow(routing.Validating, informersV1.ValidatingWebhookConfigurations().Informer()),
		follow(routing.Mutating, informersV1.MutatingWebhookConfigurations().Informer()))
}
