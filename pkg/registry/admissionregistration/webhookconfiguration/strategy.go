// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhookconfiguration stores ValidatingWebhookConfigurations and
// MutatingWebhookConfigurations as Kubernetes does, with a feature gate for match conditions.
package webhookconfiguration

import (
	"context"
	"slices"

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

// setStrategy replaces the strategy of a store for creations and updates, and returns the store.
func setStrategy(strategy Strategy, store *registry.Store) *registry.Store {
	store.CreateStrategy, store.UpdateStrategy = strategy, strategy
	return store
}

// Strategy is Kubernetes' strategy for a kind of webhook configurations, except that it drops match
// conditions while feature gate AdmissionWebhookMatchConditions is off. It is safe for concurrent
// use.
type Strategy struct{ upstreamStrategy }

// upstreamStrategy has every interface of Kubernetes' strategies, whose types are not exported.
// The server finds declarative validation by a type assertion, so a missing interface would turn it
// off without an error.
type upstreamStrategy interface {
	rest.RESTCreateUpdateStrategy
	rest.DeclarativeValidationStrategy
}

// NewValidatingStrategy returns the Strategy for ValidatingWebhookConfigurations.
func NewValidatingStrategy() Strategy { return Strategy{validatingwebhookconfiguration.Strategy} }

// NewMutatingStrategy returns the Strategy for MutatingWebhookConfigurations.
func NewMutatingStrategy() Strategy { return Strategy{mutatingwebhookconfiguration.Strategy} }

// PrepareForCreate drops match conditions if their feature gate is off. Kubernetes' strategy does
// the rest.
func (s Strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	if !conditionsEnabled() {
		dropConditions(obj)
	}
	s.upstreamStrategy.PrepareForCreate(ctx, obj)
}

// PrepareForUpdate drops match conditions if their feature gate is off, unless a stored webhook has
// some: an update must not lose what was written while the gate was on. Kubernetes' strategy then
// compares the webhooks to increment the generation.
func (s Strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	if !conditionsEnabled() && !hasConditions(old) {
		dropConditions(obj)
	}
	s.upstreamStrategy.PrepareForUpdate(ctx, obj, old)
}

func conditionsEnabled() bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.AdmissionWebhookMatchConditions)
}

// matchConditions returns a pointer to the match conditions of each webhook in a configuration.
func matchConditions(configuration runtime.Object) (all []*[]admissionregistration.MatchCondition) {
	switch c := configuration.(type) {
	case *admissionregistration.ValidatingWebhookConfiguration:
		for i := range c.Webhooks {
			all = append(all, &c.Webhooks[i].MatchConditions)
		}
	case *admissionregistration.MutatingWebhookConfiguration:
		for i := range c.Webhooks {
			all = append(all, &c.Webhooks[i].MatchConditions)
		}
	}
	return all
}

func hasConditions(configuration runtime.Object) bool {
	return slices.ContainsFunc(matchConditions(configuration), func(c *[]admissionregistration.MatchCondition) bool { return len(*c) > 0 })
}

func dropConditions(configuration runtime.Object) {
	for _, conditions := range matchConditions(configuration) {
		*conditions = nil
	}
}
