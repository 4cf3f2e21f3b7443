// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MatchResources selects requests by resource, namespace and labels. A request
// that an exclude rule matches is never selected.
// +structType=atomic
type MatchResources struct {
	// namespaceSelector selects by the labels of the object's namespace, or by the
	// object's own labels when it is a namespace. Other cluster-scoped objects
	// always pass. Defaults to the empty selector, which selects everything. This
	// one keeps system namespaces out:
	//
	//   matchExpressions:
	//   - key: kubernetes.io/metadata.name
	//     operator: NotIn
	//     values: ["kube-system", "kube-node-lease"]
	//
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty" protobuf:"bytes,1,opt,name=namespaceSelector"`

	// objectSelector selects by the labels of the object; it is enough that either
	// the new or the old object has them. An object without labels of its own, such
	// as the options of a connect request, is not selected. Users choose the labels
	// of what they write, so this suits rules that one opts into. Defaults to the
	// empty selector, which selects everything.
	// +optional
	ObjectSelector *metav1.LabelSelector `json:"objectSelector,omitempty" protobuf:"bytes,2,opt,name=objectSelector"`

	// resourceRules select operations on resources and subresources; one that
	// matches is enough. A policy requires at least one. In a binding, no rules
	// means everything that the policy matches.
	// +listType=atomic
	// +optional
	ResourceRules []NamedRuleWithOperations `json:"resourceRules,omitempty" protobuf:"bytes,3,rep,name=resourceRules"`

	// excludeResourceRules take operations on resources and subresources out again,
	// whatever resourceRules say.
	// +listType=atomic
	// +optional
	ExcludeResourceRules []NamedRuleWithOperations `json:"excludeResourceRules,omitempty" protobuf:"bytes,4,rep,name=excludeResourceRules"`

	// matchPolicy decides over requests that reach a listed resource through another
	// group or version that serves the same objects. Exact ignores them. Equivalent
	// selects them, and expressions see the object converted to the version that the
	// rule lists. Defaults to Equivalent.
	// +optional
	MatchPolicy *MatchPolicyType `json:"matchPolicy,omitempty" protobuf:"bytes,7,opt,name=matchPolicy,casttype=MatchPolicyType"`
}

// MatchPolicyType says whether rules match by name only.
// +enum
type MatchPolicyType string

const (
	// Exact matches only the groups and versions that rules list.
	Exact MatchPolicyType = "Exact"
	// Equivalent also matches other groups and versions of the same objects.
	Equivalent MatchPolicyType = "Equivalent"
)

// NamedRuleWithOperations selects operations on resources, optionally on
// particular objects only.
// +structType=atomic
type NamedRuleWithOperations struct {
	// resourceNames limits the rule to objects of these names. Empty means all.
	// +listType=atomic
	// +optional
	ResourceNames []string `json:"resourceNames,omitempty" protobuf:"bytes,1,rep,name=resourceNames"`

	// RuleWithOperations is the rule: groups, versions, resources, scope, operations.
	RuleWithOperations `json:",inline" protobuf:"bytes,2,opt,name=ruleWithOperations"`
}

// MatchCondition is a named CEL predicate over requests.
type MatchCondition struct {
	// name identifies the condition in messages and when lists are merged. Required,
	// unique within the list, a qualified name such as "not-leases" or
	// "example.com/not-leases".
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// expression is a CEL expression of type bool. Required. It may read 'object',
	// 'oldObject', 'request' and 'authorizer', as validations do.
	Expression string `json:"expression" protobuf:"bytes,2,opt,name=expression"`
}
