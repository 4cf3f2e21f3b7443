// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	"context"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/metrics"
)

// An evaluation is one call of Rules.Evaluate: it walks the tree of nodes beside the value, and
// collects the errors of their rules.
type evaluation struct {
	ctx      context.Context
	instance *Instance
	budget   int64
	errs     field.ErrorList
	// at is the place of the visited node.
	at place
}

// visit evaluates the rules of a node and of the nodes below. It returns false if no more rules may
// be evaluated, with a negative budget.
func (e *evaluation) visit(n *node, value, old any) bool {
	start := time.Now()
	defer func() { metrics.Metrics.ObserveEvaluation(time.Since(start)) }()
	if n == nil || value == nil {
		// As in Kubernetes, rules of a nullable schema are not evaluated for null.
		return true
	}
	if !e.evaluate(n, value, old) {
		return false
	}
	for _, all := range n.allOf {
		if !e.visitAt(element{kind: allOfElement}, all, value, old) {
			return false
		}
	}
	switch value := value.(type) {
	case []any:
		if n.items != nil {
			old, _ := old.([]any)
			return e.visitItems(n, value, old)
		}
	case map[string]any:
		old, _ := old.(map[string]any)
		return e.visitFields(n, value, old)
	}
	return true
}

func (e *evaluation) visitItems(n *node, items, old []any) bool {
	// Only items of lists of type map have old values.
	var oldItems common.MapList
	if n.items.mayReadOld && len(old) > 0 {
		oldItems = common.MakeMapList(&model.Structural{Structural: n.schema}, old)
	}
	for i, item := range items {
		var before any
		if oldItems != nil {
			before = oldItems.Get(item)
		}
		if !e.visitAt(element{kind: indexElement, index: i}, n.items, item, before) {
			return false
		}
	}
	return true
}

func (e *evaluation) visitFields(n *node, fields, old map[string]any) bool {
	if !cel.MapIsCorrelatable(n.schema.XMapType) {
		old = nil
	}
	if n.additional != nil {
		for name, value := range fields {
			if !e.visitAt(element{kind: keyElement, name: name}, n.additional, value, old[name]) {
				return false
			}
		}
	}
	for _, property := range n.properties {
		if value, ok := fields[property.name]; ok {
			if !e.visitAt(element{kind: propertyElement, name: property.name}, property.node, value, old[property.name]) {
				return false
			}
		}
	}
	return true
}

func (e *evaluation) visitAt(at element, n *node, value, old any) bool {
	e.at = append(e.at, at)
	proceed := e.visit(n, value, old)
	e.at = e.at[:len(e.at)-1]
	return proceed
}
