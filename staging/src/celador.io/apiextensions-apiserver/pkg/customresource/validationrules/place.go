// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// A place leads from the root of a value to a node. Field paths and correlations are derived from
// it for failing rules only.
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

// unchanged reports whether the value at the place, or the closest value above that can be
// compared, equals its old value. root is nil if there is no old value.
func (p place) unchanged(root *common.CorrelatedObject) bool {
	current, parent := root, (*common.CorrelatedObject)(nil)
	for _, element := range p {
		switch {
		case element.kind == allOfElement:
			// Kubernetes compares the value around it for everything in allOf, whether rules or
			// other validations.
			current = nil
		case current == nil:
		case parent == nil && (element.name == "apiVersion" || element.name == "kind"):
			// Both objects have been converted to the same version, which hides a change of these
			// fields.
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
