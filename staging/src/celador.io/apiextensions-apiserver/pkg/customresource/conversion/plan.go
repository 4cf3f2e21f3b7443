// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/schemaexpression"
	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
)

// A plan is a converter that is ready to convert objects. It is immutable and safe for concurrent use.
type plan struct {
	from, to *typedVersion
	rules    []plannedRule
	// scopes holds the distinct scopes of the rules, which share the values there.
	scopes []plannedScope
	// edits are the places that the rules change.
	edits edits
	// changesMetadata is set if a rule may change labels or annotations.
	changesMetadata bool
}

type plannedScope struct {
	path   rulepath.Path
	schema *schemaexpression.Schema
	// shared is set if several rules have the scope.
	shared bool
}

type plannedRule struct {
	compiledRule
	id      Rule
	program *schemaexpression.Program
	// scope is the index of the rule's scope in the plan.
	scopeIndex int
	// existing is the length of the part of the scope that must exist in the target: up to the last [*].
	existing int
}

// newPlan compiles and plans the rules of a converter, which has an index in spec.conversion.converters, apart from those that satisfy
// skip, which may be nil. An error has the reason ReasonCompilation.
func newPlan(from, to *typedVersion, converter *v1.Converter, index int, skip func(*v1.ConversionRule) bool) (*plan, *Error) {
	p := &plan{from: from, to: to}
	fail := func(rule *Rule, err error) *Error {
		return &Error{Reason: ReasonCompilation, From: from.name, To: to.name, Rule: rule, Err: err}
	}
	if from.schema == nil || to.schema == nil {
		return nil, fail(nil, errNoSchema)
	}
	edge := newEdge(from, to)
	scopes := map[string]int{}
	for i := range converter.Rules {
		rule := &converter.Rules[i]
		if skip != nil && skip(rule) {
			continue
		}
		id := Rule{Converter: index, Index: i, Scope: rule.Scope, Field: rule.Field}
		compiled, problem := edge.compile(rule, environment.StoredExpressions)
		if problem != nil {
			return nil, fail(&id, problem)
		}
		program, err := compiled.expression.Program()
		if err != nil {
			return nil, fail(&id, err)
		}
		scope := compiled.scope.String()
		if index, ok := scopes[scope]; ok {
			p.scopes[index].shared = true
		} else {
			scopes[scope] = len(p.scopes)
			p.scopes = append(p.scopes, plannedScope{
				path:   compiled.scope,
				schema: schemaexpression.NewSchema(&model.Structural{Structural: compiled.source}),
			})
		}
		p.rules = append(p.rules, plannedRule{
			compiledRule: *compiled, id: id, program: program, scopeIndex: scopes[scope], existing: lastEach(compiled.scope) + 1,
		})
	}
	p.planEdits()
	return p, nil
}

// lastEach returns the index of the last [*] in a path, or -1.
func lastEach(path rulepath.Path) int {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Each {
			return i
		}
	}
	return -1
}

func (p *plan) planEdits() {
	paths := make([]rulepath.Path, len(p.rules))
	for i := range p.rules {
		rule := &p.rules[i]
		path := rule.path()
		paths[i] = path
		at := p.edits.at(path)
		at.merged = at.merged || mayMerge(rule.expression.OutputType())
		p.changesMetadata = p.changesMetadata || len(path) == 0 || path[0].Name == "metadata"
	}
	for _, r := range retypings(p.from.schema, p.to.schema) {
		path := r.discarded(paths)
		at := p.edits.at(path)
		at.discard = true
		if target, err := path.Resolve(p.to.schema); err == nil {
			at.blank = blank(target)
		}
	}
}
