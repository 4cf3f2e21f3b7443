// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"celador.io/admission/matching"
	"celador.io/admission/policyspec"
)

// A Backend provides the parts of a server that its clusters need: API groups, authorizer, plugins,
// schemas and feature gates. Implementations are safe for concurrent use.
type Backend interface {
	// Group returns a new API group with the registries of its resources, or nil if the group is
	// not served. Registries store objects through options.RESTOptions. A cluster calls Group at
	// most once for each group, and only for the groups that requests need. It serves the group of
	// CustomResourceDefinitions itself.
	Group(name string, options GroupOptions) (*genericapiserver.APIGroupInfo, error)
	// NewAuthorizer returns an authorizer that decides by the roles and bindings among the objects.
	NewAuthorizer(ObjectReader) Authorizer
	// Exclusions returns the resources that are exempt from policies and webhooks of the server.
	Exclusions() Exclusions
	// NewPlugins returns the admission plugins that change objects before mutating policies do, in
	// order.
	NewPlugins(ObjectReader) ([]admission.MutationInterface, error)
	// SchemaResolver holds the schemas of built-in types, for type checks and apply configurations.
	resolver.SchemaResolver
	// Features returns the enabled features of policies. Clusters that exist are not affected by
	// later changes.
	Features() policyspec.Features
	// EnableFeatures sets feature gates, as the flag --feature-gates of a server does, until
	// restore is called. Clusters must be created and used in between. It returns an error if a
	// gate does not exist or cannot have the value. Gates apply to the process, so EnableFeatures
	// waits until earlier gates are restored.
	EnableFeatures(gates map[string]bool) (restore func(), err error)
}

// An Authorizer decides whether a user may do something, and lists the rules that allow it.
type Authorizer interface {
	authorizer.UnconditionalAuthorizer
	authorizer.RuleResolver
}

// Exclusions are the resources that a server keeps from admission. The sets must not be changed.
type Exclusions struct {
	// Policies are the resources to which policies do not apply.
	Policies sets.Set[schema.GroupResource]
	// Webhooks are the resources for which the server calls no webhooks.
	Webhooks sets.Set[schema.GroupResource]
}

// GroupOptions are the dependencies of the registries of a group.
type GroupOptions struct {
	RESTOptions generic.RESTOptionsGetter
	// Authorizer answers the checks of registries, such as RBAC's escalation check. It allows
	// everything, since a cluster does not authorize requests.
	Authorizer authorizer.UnconditionalAuthorizer
	// Reviewer answers access reviews from the RBAC roles and role bindings of the cluster that the
	// request is sent to.
	Reviewer Authorizer
	// Namespaces looks up namespaces for registries whose checks depend on them.
	Namespaces matching.NamespaceGetter
}
