// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Rules of CustomResourceDefinitions read the field "max-size" as self.max__dash__size. Policies
// read objects without schemas, where no name is escaped: object.max__dash__size is a field that no
// object has, and has() of it is false.

// unescaped returns the field that the rules of a CustomResourceDefinition read by the given name,
// such as max-size for max__dash__size. It returns false if that is the name itself.
func unescaped(name string) (string, bool) {
	meant, ok := apiservercel.Unescape(name)
	return meant, ok && meant != name
}

var identifier = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// spelled returns a name as a selection or a constructor spells it, in backticks if it is not an
// identifier.
func spelled(name string) string {
	switch name {
	case "true", "false", "null", "in":
	default:
		if identifier.MatchString(name) {
			return name
		}
	}
	return "`" + name + "`"
}

// findEscapes adds an issue for each field that an expression reads or constructs by an escaped
// name, such as max__dash__size, unless the value has a field with that name. The issue replaces
// the type checker's issue about the field. given holds the types of all subexpressions; without
// it, findEscapes finds nothing.
func (s *scope) findEscapes(tree *cel.Ast, given map[int64]*cel.Type, issues *cel.Issues) (*cel.Issues, *escapes) {
	found := &escapes{scope: s, given: given, source: tree.NativeRep().SourceInfo(), ids: map[int64]bool{}}
	if given != nil {
		ast.PostOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(found.visit))
	}
	if len(found.errs) == 0 {
		return issues, found
	}
	others := slices.DeleteFunc(slices.Clone(issues.Errors()), func(e *common.Error) bool {
		return found.ids[e.ExprID] && strings.HasPrefix(e.Message, undefinedField)
	})
	return cel.NewIssues(common.NewErrors(tree.Source()).Append(append(others, found.errs...))), found
}

// undefinedField is the beginning of cel-go's message about a field that a type does not have. The
// name follows in quotes.
const undefinedField = "undefined field '"

// escapes collects the escaped names in an expression.
type escapes struct {
	*scope
	given  map[int64]*cel.Type
	source *ast.SourceInfo
	errs   []*common.Error
	// ids are the IDs of the subexpressions and entries with errors.
	ids map[int64]bool
}

func (x *escapes) visit(e ast.Expr) {
	if operand, name, ok := selection(e); ok {
		x.selected(e.ID(), x.given[operand.ID()], name)
	} else if e.Kind() == ast.CallKind {
		x.called(e)
	} else if constructor, ok := constructorOf(e); ok {
		x.constructed(e, constructor)
	}
}

// selection returns the operand and the field of a selection, which may be optional.
func selection(e ast.Expr) (operand ast.Expr, name string, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), true
	case ast.CallKind:
		if call := e.AsCall(); call.FunctionName() == operators.OptSelect {
			name, ok = literalText(call.Args()[1])
			return call.Args()[0], name, ok
		}
	}
	return nil, "", false
}

func literalText(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().(types.String)
	return string(text), ok
}

// selected checks the selection of a field from a value of type t.
func (x *escapes) selected(id int64, t *cel.Type, name string) {
	meant, escaped := unescaped(name)
	switch {
	case !escaped || x.declares(t, name):
	case x.isClosed(t):
		x.add(id, fmt.Sprintf("%s%s': names are not escaped in policies, write %s", undefinedField, name, spelled(meant)))
	default:
		x.add(id, fmt.Sprintf("escaped name '%s': names are not escaped in policies, write %s, or ['%s'] for a key of that very name", name, spelled(meant), name))
	}
}

// called checks the key of an index expression or of 'in', if it is a literal, such as
// 'a__dash__b'. It adds an issue only if objects of the operand's type cannot have that key, but
// have the field a-b that it stands for. Maps may have any key.
func (x *escapes) called(e ast.Expr) {
	call := e.AsCall()
	if len(call.Args()) != 2 {
		return
	}
	operand, key := call.Args()[0], call.Args()[1]
	switch call.FunctionName() {
	case operators.Index, operators.OptIndex:
	case operators.In:
		operand, key = key, operand
	default:
		return
	}
	name, _ := literalText(key)
	t := x.given[operand.ID()]
	if meant, escaped := unescaped(name); escaped && x.isClosed(t) && !x.declares(t, name) && x.declares(t, meant) {
		x.add(e.ID(), fmt.Sprintf("%s%s': names are not escaped in policies, write '%s'", undefinedField, name, meant))
	}
}

// constructed checks the field names in a construction such as Object.spec{replicas: 1}: those
// between the braces, here replicas, and those in the name of the constructor, here spec.
func (x *escapes) constructed(e ast.Expr, constructor string) {
	path := strings.Split(constructor, ".")
	for i, name := range path {
		if meant, escaped := unescaped(name); escaped && !x.constructs(strings.Join(path[:i], "."), name) {
			x.add(e.ID(), fmt.Sprintf("%s%s' in %s: names are not escaped in policies, write a map for the field %s: {'key': ...}", undefinedField, name, constructor, spelled(meant)))
		}
	}
	for _, f := range e.AsStruct().Fields() {
		name := f.AsStructField().Name()
		if meant, escaped := unescaped(name); escaped && !x.constructs(constructor, name) {
			x.add(f.ID(), fmt.Sprintf("%s%s': names are not escaped in policies, write %s", undefinedField, name, spelled(meant)))
		}
	}
}

func (x *escapes) add(id int64, message string) {
	if x.ids[id] {
		return
	}
	x.ids[id] = true
	x.errs = append(x.errs, &common.Error{ExprID: id, Location: x.source.GetStartLocation(id), Message: message})
}

// valueType returns the type of the value of an optional, and other types as they are. A selection
// from an optional selects from its value.
func valueType(t *cel.Type) *cel.Type {
	for t != nil && isOptional(t) {
		t = t.Parameters()[0]
	}
	return t
}

// declares reports whether a type has a field with the name as it is written. For the type of
// 'variables', every name counts as declared, because policies choose the names of their variables
// and nothing escapes them.
func (x *escapes) declares(t *cel.Type, name string) bool {
	if t = valueType(t); t == nil || t.Kind() != types.StructKind {
		return false
	}
	if t.TypeName() == variablesType {
		return true
	}
	if o, ok := x.types.objects[t.TypeName()]; ok {
		_, declared := o.Properties[name]
		return declared
	}
	_, declared := x.types.Provider.FindStructFieldType(t.TypeName(), name)
	return declared
}

// isClosed reports whether values of a type have no fields but those that the type declares.
func (x *escapes) isClosed(t *cel.Type) bool {
	if t = valueType(t); t == nil || t.Kind() != types.StructKind {
		return false
	}
	o, ok := x.types.objects[t.TypeName()]
	return !ok || !o.open && additionalOf(o.Schema) == nil
}

// constructs reports whether one of the types that the constructor may construct declares a field
// with the name as it is written.
func (x *escapes) constructs(constructor, name string) bool {
	return slices.ContainsFunc(x.constructors.typesOf(constructor), func(t *cel.Type) bool { return x.declares(t, name) })
}
