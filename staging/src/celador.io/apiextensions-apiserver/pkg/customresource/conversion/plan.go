// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"errors"
	"fmt"
	"sync"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// A plan is a converter that has been compiled and is ready to convert objects. It is immutable and
// safe for concurrent use.
type plan struct {
	from, to *typedVersion
	// converter is the index in spec.conversion.converters.
	converter int
	tables    *tables
	rules     []plannedRule
	// variables are the variables of the converter, in its order.
	variables []plannedVariable
	// positions holds the indices of the variables by their names in expressions, such as
	// variables.a.
	positions map[string]int
	// root is the schema of the objects in the version that they are converted from.
	root *schemaexpression.Schema
	// scopes holds the distinct scopes of the rules. Rules with the same scope share the values
	// that it leads to.
	scopes []plannedScope
	// edits are the places that the rules change.
	edits edits
	// openFields are the fields that are copied, and whose values must be checked because only the
	// target's schema declares their types.
	openFields []openField
	// changesMetadata is set if a rule may change labels or annotations.
	changesMetadata bool
}

type plannedScope struct {
	path rulepath.Path
	// lastEach is the index of the last [*] in the path, or -1.
	lastEach int
	schema   *schemaexpression.Schema
	// shared is set if several rules have the scope.
	shared bool
}

type plannedVariable struct {
	name       string
	program    *schemaexpression.Program
	readsTable bool
}

type plannedRule struct {
	compiledRule
	id      RuleID
	program *schemaexpression.Program
	// readsTable is set if the rule reads a table.
	readsTable bool
	// scopeIndex is the index of the rule's scope in the scopes of the plan.
	scopeIndex int
	// existing is the number of segments at the beginning of the scope, up to the last [*], that
	// must lead to a value in the converted object, too. If an earlier rule has removed that list
	// item or map entry, the rule fails, and does not add it again.
	existing int
	// reads returns what the rule reads of the source; see innermostReads.
	reads func() []sourceRead
}

// newPlan compiles and plans the rules of an entry of spec.conversion.converters, which is at an
// index. With onlyMetadata, it leaves out rules and checks of fields other than metadata. An error
// has the reason ReasonCompilation.
func newPlan(from, to *typedVersion, tables *tables, converter *v1.Converter, index int, onlyMetadata bool) (*plan, *Error) {
	p := &plan{from: from, to: to, converter: index, tables: tables, positions: map[string]int{}}
	fail := func(rule *RuleID, err error) *Error {
		return &Error{Reason: ReasonCompilation, From: from.name, To: to.name, Rule: rule, Err: err}
	}
	if from.schema == nil || to.schema == nil {
		return nil, fail(nil, errNoSchema)
	}
	edge := newEdge(from, to, tables)
	newSchema := func(s *structuralschema.Structural) *schemaexpression.Schema {
		return schemaexpression.NewOpenSchema(&model.Structural{Structural: s})
	}
	p.root = newSchema(from.source().schema)
	for i := range converter.Variables {
		if err := p.addVariable(edge, &converter.Variables[i]); err != nil {
			return nil, fail(nil, fmt.Errorf("spec.conversion.converters[%d].variables[%d] (%q): %w", index, i, converter.Variables[i].Name, err))
		}
	}
	scopes := map[string]int{}
	for i := range converter.Rules {
		rule := &converter.Rules[i]
		if _, metadata := writesMetadata(rule); onlyMetadata && !metadata {
			continue
		}
		id := RuleID{Converter: index, Index: i, Scope: rule.Scope, Field: rule.Field}
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
			schema := p.root
			if len(compiled.scope) > 0 {
				schema = newSchema(compiled.source)
			}
			p.scopes = append(p.scopes, plannedScope{path: compiled.scope, lastEach: lastEach(compiled.scope), schema: schema})
		}
		p.rules = append(p.rules, plannedRule{
			compiledRule: *compiled, id: id, program: program, readsTable: readsTable(compiled.expression), scopeIndex: scopes[scope], existing: lastEach(compiled.scope) + 1,
			reads: sync.OnceValue(func() []sourceRead { return innermostReads(from, compiled) }),
		})
	}
	p.planEdits()
	if onlyMetadata {
		p.openFields = nil
	}
	return p, nil
}

// addVariable compiles and plans a variable.
func (p *plan) addVariable(edge *edge, variable *v1.ConversionVariable) error {
	name := schemaexpression.Variables + "." + variable.Name
	if _, ok := p.positions[name]; ok {
		return errors.New("the converter has several variables with this name")
	}
	expression, problem := edge.declare(variable, environment.StoredExpressions)
	if problem != nil {
		return problem
	}
	program, err := expression.Program()
	if err != nil {
		return err
	}
	p.positions[name] = len(p.variables)
	p.variables = append(p.variables, plannedVariable{variable.Name, program, readsTable(expression)})
	return nil
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
	p.edits.fields = map[string]*edits{} // Every conversion sets apiVersion in a copy of the object.
	paths := make([]rulepath.Path, len(p.rules))
	for i := range p.rules {
		rule := &p.rules[i]
		path := rule.path()
		paths[i] = path
		at := p.edits.at(path)
		at.merged = at.merged || mayMerge(rule.expression.OutputType())
		p.changesMetadata = p.changesMetadata || len(path) == 0 || path[0].Name == "metadata"
	}
	same := compareIdentity(p.from.schema, p.to.schema)
	p.openFields = same.openFields
	for _, r := range same.retypedFields {
		path := r.discarded(paths)
		at := p.edits.at(path)
		at.discard = true
		if target, err := ruleschema.Resolve(path, p.to.schema); err == nil {
			at.blank = blank(target)
		}
	}
}
