// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhookconfiguration stores ValidatingWebhookConfigurations and
// MutatingWebhookConfigurations as Kubernetes does, with a feature gate for match conditions.
package webhookconfiguration

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	mutatingstorage "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration/storage"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	validatingstorage "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration/storage"

	"celador.io/apiserver/pkg/features"
)

// NewValidatingREST returns Kubernetes' storage of ValidatingWebhookConfigurations with the
// Strategy of this package, and its store. It returns the errors of getter and of connecting to
// etcd.
func NewValidatingREST(getter generic.RESTOptionsGetter) (*registry.Store, rest.Storage, error) {
	storage, err := validatingstorage.NewREST(getter)
	if err != nil {
		return nil, nil, err
	}
	return setStrategy(NewValidatingStrategy(), storage.Store), storage, nil
}

// NewMutatingREST is NewValidatingREST for MutatingWebhookConfigurations.
func NewMutatingREST(getter generic.RESTOptionsGetter) (*registry.Store, rest.Storage, error) {
	storage, err := mutatingstorage.NewREST(getter)
	if err != nil {
		return nil, nil, err
	}
	return setStrategy(NewMutatingStrategy(), storage.Store), storage, nil
}

// setStrategy returns the store after it has set its strategy for creations and updates.
func setStrategy(strategy Strategy, store *registry.Store) *registry.Store {
	store.CreateStrategy, store.UpdateStrategy = strategy, strategy
	return store
}

// Strategy is Kubernetes' strategy for a kind of webhook configurations, except that it drops match
// conditions while feature gate AdmissionWebhookMatchConditions is off. It is safe for concurrent
// use.
type Strategy struct {
	upstreamStrategy
	conditions func(configuration runtime.Object) []*[]admissionregistration.MatchCondition
}

// upstreamStrategy has every interface of Kubernetes' strategies, whose types are not exported.
// The server finds declarative validation by a type assertion, so a missing interface would turn it
// off without an error.
type upstreamStrategy interface {
	rest.RESTCreateUpdateStrategy
	rest.DeclarativeValidationStrategy
}

// NewValidatingStrategy returns the Strategy for ValidatingWebhookConfigurations.
func NewValidatingStrategy() Strategy {
	return Strategy{validatingwebhookconfiguration.Strategy, func(configuration runtime.Object) []*[]admissionregistration.MatchCondition {
		webhooks := configuration.(*admissionregistration.ValidatingWebhookConfiguration).Webhooks
		return fieldPointers(webhooks, func(w *admissionregistration.ValidatingWebhook) *[]admissionregistration.MatchCondition {
			return &w.MatchConditions
		})
	}}
}

// NewMutatingStrategy returns the Strategy for MutatingWebhookConfigurations.
func NewMutatingStrategy() Strategy {
	return Strategy{mutatingwebhookconfiguration.Strategy, func(configuration runtime.Object) []*[]admissionregistration.MatchCondition {
		webhooks := configuration.(*admissionregistration.MutatingWebhookConfiguration).Webhooks
		return fieldPointers(webhooks, func(w *admissionregistration.MutatingWebhook) *[]admissionregistration.MatchCondition {
			return &w.MatchConditions
		})
	}}
}

// fieldPointers returns the address of a field of each webhook.
func fieldPointers[Webhook, Field any](webhooks []Webhook, field func(*Webhook) *Field) []*Field {
	var all []*Field
	for i := range webhooks {
		all = append(all, field(&webhooks[i]))
	}
	return all
}

// PrepareForCreate drops match conditions if their feature gate is off. Kubernetes' strategy does
// the rest.
func (s Strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	if !conditionsEnabled() {
		s.dropConditions(obj)
	}
	s.upstreamStrategy.PrepareForCreate(ctx, obj)
}

// PrepareForUpdate drops match conditions if their feature gate is off, unless a stored webhook has
// some: an update must not lose what was written while the gate was on. Kubernetes' strategy then
// compares the webhooks to increment the generation.
func (s Strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	if !conditionsEnabled() && !s.hasConditions(old) {
		s.dropConditions(obj)
	}
	s.upstreamStrategy.PrepareForUpdate(ctx, obj, old)
}

func conditionsEnabled() bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.AdmissionWebhookMatchConditions)
}

func (s Strategy) hasConditions(configuration runtime.Object) bool {
	for _, conditions := range s.conditions(configuration) {
		if len(*conditions) > 0 {
			return true
		}
	}
	return false
}

func (s Strategy) dropConditions(configuration runtime.Object) {
	for _, conditions := range s.conditions(configuration) {
		*conditions = nil
	}
}
