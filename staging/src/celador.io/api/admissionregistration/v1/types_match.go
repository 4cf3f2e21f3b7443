// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MatchResources selects requests by resource, namespace and labels. Requests that
// an exclude rule matches are not selected.
// +structType=atomic
type MatchResources struct {
	// namespaceSelector selects requests by the labels of the object's namespace,
	// or by the object's own labels if the object is a namespace. It does not
	// restrict requests for other cluster-scoped objects. Defaults to the empty
	// selector, which selects all objects. For example, this selector excludes
	// system namespaces:
	//
	//   matchExpressions:
	//   - key: kubernetes.io/metadata.name
	//     operator: NotIn
	//     values: ["kube-system", "kube-node-lease"]
	//
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty" protobuf:"bytes,1,opt,name=namespaceSelector"`

	// objectSelector selects requests by the labels of the object. It selects a
	// request if the new or the old object has the labels. Objects without labels,
	// such as the options of a connect request, are not selected. Users set the
	// labels of their objects, so use objectSelector only for rules that users opt
	// into. Defaults to the empty selector, which selects all objects.
	// +optional
	ObjectSelector *metav1.LabelSelector `json:"objectSelector,omitempty" protobuf:"bytes,2,opt,name=objectSelector"`

	// resourceRules select operations on resources and subresources. One rule must
	// match. A policy requires at least one rule. A binding without rules selects
	// all requests that the policy matches.
	// +listType=atomic
	// +optional
	ResourceRules []NamedRuleWithOperations `json:"resourceRules,omitempty" protobuf:"bytes,3,rep,name=resourceRules"`

	// excludeResourceRules exclude operations on resources and subresources. They
	// take precedence over resourceRules.
	// +listType=atomic
	// +optional
	ExcludeResourceRules []NamedRuleWithOperations `json:"excludeResourceRules,omitempty" protobuf:"bytes,4,rep,name=excludeResourceRules"`

	// matchPolicy defines whether rules match requests for a listed resource that
	// use another group or version. Exact does not match them. Equivalent matches
	// them, and expressions read the object converted to the version that the rule
	// lists. Defaults to Equivalent.
	// +optional
	MatchPolicy *MatchPolicyType `json:"matchPolicy,omitempty" protobuf:"bytes,7,opt,name=matchPolicy,casttype=MatchPolicyType"`
}

// MatchPolicyType defines whether rules match equivalent resources.
// +enum
type MatchPolicyType string

const (
	// Exact matches only the groups and versions that rules list.
	Exact MatchPolicyType = "Exact"
	// Equivalent also matches other groups and versions of the same objects.
	Equivalent MatchPolicyType = "Equivalent"
)

// NamedRuleWithOperations selects operations on resources, optionally on objects
// with certain names only.
// +structType=atomic
type NamedRuleWithOperations struct {
	// resourceNames restricts the rule to objects with these names. If it is empty,
	// the rule matches all names.
	// +listType=atomic
	// +optional
	ResourceNames []string `json:"resourceNames,omitempty" protobuf:"bytes,1,rep,name=resourceNames"`

	// RuleWithOperations selects operations, groups, versions, resources and a
	// scope.
	RuleWithOperations `json:",inline" protobuf:"bytes,2,opt,name=ruleWithOperations"`
}

// MatchCondition is a named CEL expression that selects requests.
type MatchCondition struct {
	// name identifies the condition in messages, and when lists are merged. It must
	// be a qualified name such as "not-leases" or "example.com/not-leases", unique
	// within the list. Required.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// expression is a CEL expression of type bool. Required. It may read 'object',
	// 'oldObject', 'request' and 'authorizer', as validations do.
	Expression string `json:"expression" protobuf:"bytes,2,opt,name=expression"`
}
