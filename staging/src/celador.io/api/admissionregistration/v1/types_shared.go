// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	upstream "k8s.io/api/admissionregistration/v1"
)

// The types below also appear in webhook configurations, which this project
// serves with upstream's Go types. Aliases keep one type for one schema.
type (
	// Rule selects resources by group, version, resource name and scope.
	Rule = upstream.Rule
	// RuleWithOperations is a Rule together with the operations it applies to.
	RuleWithOperations = upstream.RuleWithOperations
	// OperationType names an admission operation.
	OperationType = upstream.OperationType
	// ScopeType limits a Rule to cluster-scoped or namespaced resources.
	ScopeType = upstream.ScopeType
	// FailurePolicyType says what an evaluation error means for the request.
	FailurePolicyType = upstream.FailurePolicyType
	// MatchPolicyType says whether rules also match other versions of a resource.
	MatchPolicyType = upstream.MatchPolicyType
)

// Values of the shared enumerations.
const (
	OperationAll = upstream.OperationAll
	Create       = upstream.Create
	Update       = upstream.Update
	Delete       = upstream.Delete
	Connect      = upstream.Connect

	ClusterScope    = upstream.ClusterScope
	NamespacedScope = upstream.NamespacedScope
	AllScopes       = upstream.AllScopes

	Ignore = upstream.Ignore
	Fail   = upstream.Fail

	Exact      = upstream.Exact
	Equivalent = upstream.Equivalent
)
