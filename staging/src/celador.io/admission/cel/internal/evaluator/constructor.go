// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"slices"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/cel/internal/limits"
)

func (p *planner) list(list ast.ListExpr) node {
	elements := p.planAll(list.Elements())
	optionals := make([]bool, len(elements))
	for _, i := range list.OptionalIndices() {
		optionals[i] = true
	}
	adapter := p.library.adapter
	n := node{eval: func(f *frame) ref.Val {
		values := make([]ref.Val, 0, len(elements))
		for i, element := range elements {
			value, ok := entry(element.eval(f), optionals[i])
			if !ok {
				return nil
			}
			if value != nil {
				values = append(values, value)
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
	return n
}

func (p *planner) mapping(m ast.MapExpr) node {
	entries := m.Entries()
	keys, values, optionals := make([]node, len(entries)), make([]node, len(entries)), make([]bool, len(entries))
	for i, e := range entries {
		entry := e.AsMapEntry()
		optionals[i] = entry.IsOptional()
		keys[i], values[i] = p.plan(entry.Key()), p.plan(entry.Value())
	}
	adapter := p.library.adapter
	n := node{eval: func(f *frame) ref.Val {
		built := make(map[ref.Val]ref.Val, len(keys))
		for i := range keys {
			key := keys[i].eval(f)
			if key == nil {
				return nil
			}
			value, ok := entry(values[i].eval(f), optionals[i])
			if !ok {
				return nil
			}
			if value == nil {
				delete(built, key)
			} else {
				built[key] = value
			}
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
	return n
}

// object plans the construction of an object. Package limits counts its fields, also those that an
// optional leaves out, as it counts the elements of other literals.
func (p *planner) object(o ast.StructExpr) node {
	name, constructor := o.TypeName(), p.scope.Constructor
	if constructor == nil {
		panic(unsupported("object %s", name))
	}
	if _, found := constructor.FindStructType(name); !found {
		panic(unsupported("unknown type %s", name))
	}
	fields := o.Fields()
	names, values, optionals := make([]string, len(fields)), make([]closure, len(fields)), make([]bool, len(fields))
	for i, e := range fields {
		field := e.AsStructField()
		names[i], values[i], optionals[i] = field.Name(), p.plan(field.Value()).eval, field.IsOptional()
	}
	return node{eval: func(f *frame) ref.Val {
		built := make(map[string]ref.Val, len(names))
		for i, name := range names {
			value, ok := entry(values[i](f), optionals[i])
			if !ok {
				return nil
			}
			if value == nil {
				delete(built, name)
			} else {
				built[name] = value
			}
		}
		if limits.CountElements(f, len(names)) != nil {
			return nil
		}
		f.cost += common.StructCreateBaseCost
		return plain(constructor.NewValue(name, built))
	}}
}

func allConstant(nodes []node) bool {
	return !slices.ContainsFunc(nodes, func(n node) bool { return n.constant == nil })
}

// fold evaluates a node whose operands are constant and replaces it with its value. It leaves the
// node alone if the evaluation declines. Constants cost nothing.
func (n *node) fold() {
	value := n.eval(&frame{limit: celconfig.PerCallLimit})
	if value == nil {
		return
	}
	*n = constant(value)
}
