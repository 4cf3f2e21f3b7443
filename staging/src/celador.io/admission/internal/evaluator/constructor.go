// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"slices"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/internal/limits"
)

func (p *planner) list(list ast.ListExpr) (node, error) {
	if len(list.OptionalIndices()) > 0 {
		return unsupported("optional element")
	}
	elements, err := p.planAll(list.Elements())
	if err != nil {
		return node{}, err
	}
	adapter := p.library.adapter
	n := node{eval: func(f *frame) ref.Val {
		values := make([]ref.Val, len(elements))
		for i, element := range elements {
			if values[i] = element.eval(f); values[i] == nil {
				return nil
			}
		}
		if limits.CountElements(f, len(elements)) != nil {
			return nil
		}
		f.cost += common.ListCreateBaseCost
		return types.NewRefValList(adapter, values)
	}}
	if allConstant(elements) {
		n.fold()
	}
	return n, nil
}

func (p *planner) mapping(m ast.MapExpr) (node, error) {
	entries := m.Entries()
	keys, values := make([]node, len(entries)), make([]node, len(entries))
	for i, e := range entries {
		entry := e.AsMapEntry()
		if entry.IsOptional() {
			return unsupported("optional entry")
		}
		var err error
		if keys[i], err = p.plan(entry.Key()); err != nil {
			return node{}, err
		}
		if values[i], err = p.plan(entry.Value()); err != nil {
			return node{}, err
		}
	}
	adapter := p.library.adapter
	n := node{eval: func(f *frame) ref.Val {
		built := make(map[ref.Val]ref.Val, len(keys))
		for i := range keys {
			key := keys[i].eval(f)
			if key == nil {
				return nil
			}
			value := values[i].eval(f)
			if value == nil {
				return nil
			}
			built[key] = value
		}
		if limits.CountElements(f, 2*len(keys)) != nil {
			return nil
		}
		f.cost += common.MapCreateBaseCost
		return types.NewRefValMap(adapter, built)
	}}
	if allConstant(keys) && allConstant(values) {
		n.fold()
	}
	return n, nil
}

func allConstant(nodes []node) bool {
	return !slices.ContainsFunc(nodes, func(n node) bool { return n.constant == nil })
}

// fold evaluates a node whose operands are constant and replaces it with its value. It leaves the
// node alone if the evaluation declines. Constants cost nothing.
func (n *node) fold() {
	value := n.eval(&frame{})
	if value == nil {
		return
	}
	*n = constant(value)
}
