// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"celador.io/admission/matching"
	"celador.io/admission/mutating"
)

// Types are the API types that a cluster serves. Implementations are safe for concurrent use.
type Types interface {
	// Group returns a new API group with the registries of its resources, or nil if the group is not
	// served. Registries store objects through options.RESTOptions. A cluster calls Group at most once for each group, and
	// only for the groups that requests need.
	Group(name string, options GroupOptions) (*genericapiserver.APIGroupInfo, error)
	// NewAuthorizer returns an authorizer that answers from roles and bindings.
	NewAuthorizer(Objects) authorizer.UnconditionalAuthorizer
	// NewPlugins returns the admission plugins that change objects before mutating policies do, in order.
	NewPlugins(Objects) ([]admission.MutationInterface, error)
	// TypeConverters holds the schemas of all types, for apply configurations.
	mutating.TypeConverters
}

// GroupOptions are the dependencies of the registries of a group.
type GroupOptions struct {
	RESTOptions generic.RESTOptionsGetter
	// Authorizer answers the checks of registries, such as RBAC's escalation check. It allows everything, since a cluster does not
	// authorize requests.
	Authorizer authorizer.UnconditionalAuthorizer
	// Namespaces looks up namespaces for registries whose checks depend on them.
	Namespaces matching.NamespaceGetter
}
