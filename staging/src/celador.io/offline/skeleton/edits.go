// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package skeleton

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/cel/environment"
)

// An edit sets the value at a path of an object, or removes it if remove is set. Elements of the
// path are keys, or the int 0 for the first item of a list.
type edit struct {
	path   []any
	value  any
	remove bool
}

// apply returns an edited copy of the object. It adds objects that the path leads through and that
// do not exist, but no list items. It returns nil if the path leads through a list without items,
// or through a scalar.
func (e edit) apply(object *unstructured.Unstructured) *unstructured.Unstructured {
	result := object.DeepCopy()
	content, ok := e.in(result.Object, e.path).(map[string]any)
	if !ok {
		return nil
	}
	result.Object = content
	return result
}

// in makes the edit in a part of the object. value is this part, and path is the rest of the edit's
// path below it. in may change value. It returns the edited part, or nil if the edit is not
// possible.
func (e edit) in(value any, path []any) any {
	if len(path) == 0 {
		return runtime.DeepCopyJSONValue(e.value)
	}
	switch key := path[0].(type) {
	case string:
		object, ok := value.(map[string]any)
		if !ok && value != nil {
			return nil
		}
		if object == nil {
			object = map[string]any{}
		}
		if e.remove && len(path) == 1 {
			delete(object, key)
			return object
		}
		child := e.in(object[key], path[1:])
		if child == nil {
			return nil
		}
		object[key] = child
		return object
	default:
		list, _ := value.([]any)
		if len(list) == 0 {
			return nil
		}
		child := e.in(list[0], path[1:])
		if child == nil {
			return nil
		}
		list[0] = child
		return list
	}
}

// An editFinder finds edits that may change the result of expressions: it sets fields of the object
// to the values with which they are compared, and to neighbors of these values.
type editFinder struct {
	// variables are the expressions of the policy's variables by name.
	variables map[string]ast.Expr
	// params are the parameters of the policy. May be nil.
	params map[string]any
	// items holds, by the name of the iteration variable of a macro, the path of the first item of
	// the list that the macro iterates over.
	items map[string][]any
	// subject is the variable that has the subject of the request, whose fields are edited: object
	// or, for deletions, oldObject.
	subject string
	// requestNamesSubject is set if request.name and request.namespace are the name and namespace
	// of the subject. They are not if the body of the request has a kind of its own, such as
	// PodExecOptions.
	requestNamesSubject bool
	edits               []edit
}

// parse returns the syntax tree of an expression. It returns nil if the expression is invalid: the
// server reports the error when it gets the policy.
func parse(expression string) ast.Expr {
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
	parsed, issues := env.Parse(expression)
	if issues.Err() != nil {
		return nil
	}
	return parsed.NativeRep().Expr()
}

// read adds the edits that may change the result of an expression. It follows the variables of the
// policy that the expression reads.
func (r *editFinder) read(e ast.Expr) {
	if e == nil {
		return
	}
	switch e.Kind() {
	case ast.CallKind:
		call := e.AsCall()
		r.readCall(call)
		for _, operand := range operands(call) {
			r.read(operand)
		}
	case ast.SelectKind:
		s := e.AsSelect()
		if path := r.path(e); path != nil {
			if s.IsTestOnly() {
				r.set(path, "x")
				r.set(path, true)
				r.edits = append(r.edits, edit{path: path, remove: true})
			} else {
				r.set(path, true)
				r.set(path, false)
			}
		}
		if name, ok := variable(e); ok {
			r.expand(name, r.read)
			return
		}
		r.read(s.Operand())
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		if path := r.path(c.IterRange()); path != nil {
			outer, shadows := r.items[c.IterVar()]
			r.items[c.IterVar()] = append(path[:len(path):len(path)], 0)
			defer func() {
				delete(r.items, c.IterVar())
				if shadows {
					r.items[c.IterVar()] = outer
				}
			}()
		}
		r.read(c.IterRange())
		r.read(c.LoopStep())
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			r.read(element)
		}
	}
}

// readCall adds the edits for a call that compares a field of the object with a value, such as
// object.spec.replicas <= 5. It takes nearly every call with two operands for a comparison, because
// an edit without an effect does no harm.
func (r *editFinder) readCall(call ast.CallExpr) {
	all := operands(call)
	if len(all) != 2 {
		return
	}
	for _, order := range [][2]ast.Expr{{all[0], all[1]}, {all[1], all[0]}} {
		path, value := r.path(order[0]), r.value(order[1])
		if path == nil || value == nil {
			continue
		}
		switch value := value.(type) {
		case int64:
			r.set(path, value)
			r.set(path, value+1)
			r.set(path, value-1)
		case string:
			if call.FunctionName() == operators.In {
				r.set(append(path[:len(path):len(path)], value), "x")
				r.edits = append(r.edits, edit{path: append(path[:len(path):len(path)], value), remove: true})
				r.set(path, []any{value})
				continue
			}
			for _, text := range []string{value, value + "x", "x" + value, "x" + value + "x", "x"} {
				r.set(path, text)
			}
		case []any:
			for _, item := range value {
				r.set(path, item)
			}
			r.set(path, "x")
		case bool:
			r.set(path, value)
			r.set(path, !value)
		}
	}
}

func (r *editFinder) set(path []any, value any) {
	r.edits = append(r.edits, edit{path: path, value: value})
}

// requestFields maps fields of the request to the paths in the subject that have the same values.
// To change such a field, an edit changes the subject.
var requestFields = map[string][]any{
	"request.namespace": {"metadata", "namespace"}, "request.name": {"metadata", "name"}, "namespaceObject.metadata.name": {"metadata", "namespace"},
}

// requestField returns the path in the subject whose value a field of the request repeats, such as
// metadata.name for request.name. It returns nil for other expressions.
func (r *editFinder) requestField(e ast.Expr) []any {
	name := ""
	for e.Kind() == ast.SelectKind {
		name = "." + e.AsSelect().FieldName() + name
		e = e.AsSelect().Operand()
	}
	if e.Kind() != ast.IdentKind || !r.requestNamesSubject {
		return nil
	}
	return requestFields[e.AsIdent()+name]
}

// path returns the path in the object of the field that an expression selects, directly, through a
// variable of the policy or in a macro over a list. It returns nil for other expressions.
func (r *editFinder) path(e ast.Expr) []any {
	switch e.Kind() {
	case ast.IdentKind:
		if e.AsIdent() == r.subject {
			return []any{}
		}
		return r.items[e.AsIdent()]
	case ast.SelectKind:
		if name, ok := variable(e); ok {
			var path []any
			r.expand(name, func(e ast.Expr) { path = r.path(e) })
			return path
		}
		if path := r.requestField(e); path != nil {
			return path
		}
		if parent := r.path(e.AsSelect().Operand()); parent != nil {
			return append(parent[:len(parent):len(parent)], e.AsSelect().FieldName())
		}
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.Index, operators.OptSelect, operators.OptIndex:
			key := r.value(call.Args()[1])
			parent := r.path(call.Args()[0])
			if name, ok := key.(string); ok && parent != nil {
				return append(parent[:len(parent):len(parent)], name)
			} else if key == int64(0) && parent != nil {
				return append(parent[:len(parent):len(parent)], 0)
			}
		case "orValue", "int", "string", "double":
			if all := operands(call); len(all) > 0 {
				return r.path(all[0])
			}
		}
	}
	return nil
}

// value returns the value with which a field is compared, if it is known without an evaluation: the
// value of a literal, of a list of literals, or of the field of params that an expression selects.
// It returns nil for other expressions.
func (r *editFinder) value(e ast.Expr) any {
	switch e.Kind() {
	case ast.LiteralKind:
		switch value := e.AsLiteral().(type) {
		case types.Int:
			return int64(value)
		case types.String:
			return string(value)
		case types.Bool:
			return bool(value)
		}
	case ast.ListKind:
		var values []any
		for _, element := range e.AsList().Elements() {
			values = append(values, r.value(element))
		}
		return values
	case ast.IdentKind:
		if e.AsIdent() == "params" && r.params != nil {
			return r.params
		}
	case ast.SelectKind:
		if name, ok := variable(e); ok {
			var value any
			r.expand(name, func(e ast.Expr) { value = r.value(e) })
			return value
		}
		if parent, ok := r.value(e.AsSelect().Operand()).(map[string]any); ok {
			return parent[e.AsSelect().FieldName()]
		}
	}
	return nil
}

// expand calls f with the expression of a variable, if the variable exists. While f runs, the
// variable does not exist, so that f ends even if the variable refers to itself, which the server
// rejects.
func (r *editFinder) expand(name string, f func(ast.Expr)) {
	e := r.variables[name]
	if e == nil {
		return
	}
	r.variables[name] = nil
	defer func() { r.variables[name] = e }()
	f(e)
}

// operands returns the target of a member call, and the arguments.
func operands(call ast.CallExpr) []ast.Expr {
	if call.IsMemberFunction() {
		return append([]ast.Expr{call.Target()}, call.Args()...)
	}
	return call.Args()
}

// variable returns the name of the variable that an expression of the form variables.name refers
// to.
func variable(e ast.Expr) (name string, ok bool) {
	s := e.AsSelect()
	if s.Operand().Kind() == ast.IdentKind && s.Operand().AsIdent() == "variables" {
		return s.FieldName(), true
	}
	return "", false
}
