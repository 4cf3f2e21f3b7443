// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// A place leads from the root of a value to a node. Field paths and correlations are derived from
// it for failing rules only.
type place []step

type stepKind int8

const (
	propertyStep stepKind = iota
	keyStep
	indexStep
	allOfStep // to a node of the same value
)

type step struct {
	kind  stepKind
	index int
	name  string
}

// path returns the field path of the place below root.
func (p place) path(root *field.Path) *field.Path {
	for _, step := range p {
		switch step.kind {
		case propertyStep:
			root = root.Child(step.name)
		case keyStep:
			root = root.Key(step.name)
		case indexStep:
			root = root.Index(step.index)
		}
	}
	return root
}

// unchanged reports whether the value at the place, or the closest value above that can be
// compared, equals its old value. root is nil if there is no old value.
func (p place) unchanged(root *common.CorrelatedObject) bool {
	current, parent := root, (*common.CorrelatedObject)(nil)
	for _, step := range p {
		switch {
		case step.kind == allOfStep:
			// Kubernetes compares the value around it for everything in allOf, whether rules or
			// other validations.
			current = nil
		case current == nil:
		case parent == nil && (step.name == "apiVersion" || step.name == "kind"):
			// Both objects have been converted to the same version, which hides a change of these
			// fields.
			current = nil
		case step.kind == indexStep:
			current, parent = current.Index(step.index), current
		default:
			current, parent = current.Key(step.name), current
		}
	}
	if current != nil {
		return current.CachedDeepEqual()
	}
	return parent.CachedDeepEqual()
}
