// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// A place is the way from the validated value to the value of a node. Field paths and old values
// are derived from it only when a rule fails.
type place []element

type elementKind int8

const (
	propertyElement elementKind = iota
	keyElement
	indexElement
	allOfElement // to a node of the same value
)

type element struct {
	kind  elementKind
	index int
	name  string
}

// path returns the field path of the place below root.
func (p place) path(root *field.Path) *field.Path {
	for _, element := range p {
		switch element.kind {
		case propertyElement:
			root = root.Child(element.name)
		case keyElement:
			root = root.Key(element.name)
		case indexElement:
			root = root.Index(element.index)
		}
	}
	return root
}

// unchanged reports whether the value at the place equals its old value. If Kubernetes cannot
// compare that value, the nearest value around it counts. root is nil if there is no old value.
// Without anything to compare, the value counts as changed.
func (p place) unchanged(root *common.CorrelatedObject) bool {
	current, parent := root, (*common.CorrelatedObject)(nil)
	for _, element := range p {
		switch {
		case element.kind == allOfElement:
			// Kubernetes does not compare the value of a node in allOf, but the value around it:
			// with a nil current, parent is compared.
			current = nil
		case current == nil:
		case parent == nil && (element.name == "apiVersion" || element.name == "kind"):
			// Conversion has brought both objects into the same version, so a change of apiVersion
			// or kind is not visible. These fields always count as changed.
			current = nil
		case element.kind == indexElement:
			current, parent = current.Index(element.index), current
		default:
			current, parent = current.Key(element.name), current
		}
	}
	if current != nil {
		return current.CachedDeepEqual()
	}
	return parent.CachedDeepEqual()
}
