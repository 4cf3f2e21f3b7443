// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clustertest has a backend for tests of clusters, and objects and requests for them. The
// backend serves policies, webhook configurations and the kinds that tests use most, with few
// defaults and validations, and needs no code of kube-apiserver.
package clustertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"celador.io/admission/policyspec"
	"celador.io/offline/cluster"
)

// Backend is the backend.
var Backend cluster.Backend = &backend{}

type backend struct {
	groups
	// lock is held while a caller of EnableFeatures has set features.
	lock     sync.Mutex
	features atomic.Pointer[policyspec.Features]
}

// Exclusions implements cluster.Backend. There is none.
func (*backend) Exclusions() cluster.Exclusions { return cluster.Exclusions{} }

// NewPlugins implements cluster.Backend. There is none.
func (*backend) NewPlugins(cluster.ObjectReader) ([]admission.MutationInterface, error) {
	return nil, nil
}

// Features implements cluster.Backend. By default, none is enabled.
func (b *backend) Features() policyspec.Features {
	if enabled := b.features.Load(); enabled != nil {
		return *enabled
	}
	return policyspec.Features{}
}

// allFeatures has all gates switched on.
type allFeatures struct{}

func (allFeatures) Enabled(policyspec.Feature) bool { return true }

// EnableFeatures implements cluster.Backend.
func (b *backend) EnableFeatures(gates map[string]bool) (restore func(), err error) {
	known, enabled := policyspec.FeaturesOf(allFeatures{}), policyspec.Features{}
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		if !known[policyspec.Feature(name)] {
			return nil, fmt.Errorf("unrecognized feature gate: %s", name)
		}
		enabled[policyspec.Feature(name)] = gates[name]
	}
	b.lock.Lock()
	b.features.Store(&enabled)
	return func() {
		b.features.Store(nil)
		b.lock.Unlock()
	}, nil
}

// NewAuthorizer implements cluster.Backend: administrators may do everything, and others nothing.
func (*backend) NewAuthorizer(cluster.ObjectReader) cluster.Authorizer {
	return privileged{authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup)}
}

type privileged struct {
	authorizer.UnconditionalAuthorizer
}

// RulesFor implements authorizer.RuleResolver.
func (privileged) RulesFor(context.Context, user.Info, string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	return nil, nil, false, nil
}

// schemas are the schemas of kinds, with the fields that tests use.
const schemas = `
definitions:
  any: &any {type: object, x-kubernetes-preserve-unknown-fields: true}
  strings: &strings {type: object, additionalProperties: {type: string}}
  object: &object
    apiVersion: {type: string}
    kind: {type: string}
    metadata: &metadata
      <<: *any
      properties: {name: {type: string}, generateName: {type: string}, namespace: {type: string}, labels: *strings, annotations: *strings}
  pod: &pod
    <<: *any
    properties:
      containers:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items: {<<: *any, properties: {name: {type: string}, image: {type: string}}}
/v1, Kind=Namespace: {type: object, properties: {<<: *object, spec: *any, status: *any}}
/v1, Kind=ConfigMap: {type: object, properties: {<<: *object, data: *strings}}
/v1, Kind=Pod: {type: object, properties: {<<: *object, spec: *pod, status: *any}}
apps/v1, Kind=Deployment:
  type: object
  properties:
    <<: *object
    spec:
      type: object
      properties:
        replicas: {type: integer}
        selector: *any
        strategy: *any
        template: {type: object, properties: {metadata: *metadata, spec: *pod}}
    status: *any
`

// ResolveSchema implements resolver.SchemaResolver.
func (*backend) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	var all map[string]*spec.Schema
	if err := yaml.Unmarshal([]byte(schemas), &all); err != nil {
		return nil, err
	}
	found := all[kind.String()]
	if found == nil {
		return nil, fmt.Errorf("no schema of %s", kind)
	}
	return found, nil
}
