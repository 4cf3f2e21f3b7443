// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"iter"
	"maps"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/internal/costbound"
	"celador.io/admission/cel/internal/syntax"
	"celador.io/admission/cel/reads"
)

const (
	// Root is the name of the variable for the whole object. self is the same object, or a value in
	// it.
	Root = "root"
	// Variables is the name of the object whose fields are the variables that expressions share.
	Variables = expression.Variables
)

// A Declaration is a variable that expressions may read in addition to self.
type Declaration struct {
	Name string
	// Type is the type of the variable. Its object types should have names that are not valid in
	// CEL, so that no expression can construct such objects.
	Type *apiservercel.DeclType
	// IsNamespace is set for a variable that only groups other values: expressions can select its
	// fields, as in name.a, and cannot pass it on as a whole.
	IsNamespace bool
}

// Shared holds the variables that the expressions of several scopes read as variables.<name>. It is
// not safe for concurrent use while variables are declared, and must not change afterwards.
type Shared struct {
	fields map[string]*types.FieldType
	// analyses tells which parts of the object the expressions of the variables read, by the names
	// of the variables with sharedPrefix, such as variables.a.
	analyses map[string]*reads.Analysis
	// definitions holds the expressions of the variables by the same names.
	definitions map[string]costbound.Variable
	types       expression.VariableTypes
}

// NewShared returns a Shared without variables.
func NewShared() *Shared {
	return &Shared{fields: map[string]*types.FieldType{}, analyses: map[string]*reads.Analysis{}, definitions: map[string]costbound.Variable{}}
}

// Declare declares a variable for the expressions that are compiled afterwards. Names must be
// unique. x is the expression of the variable, compiled in a scope whose self is Root. It is nil if
// the expression does not compile: the variable then has the dynamic type, so that expressions that
// read it compile.
func (s *Shared) Declare(name string, x *Expression) {
	t := cel.DynType
	analysis := &reads.Analysis{}
	if x != nil {
		t = s.types.Of(x.OutputType())
		if checked, err := x.ast(); err == nil {
			analysis = new(x.environment.reads(checked, Root))
			scope := &x.environment.scope
			variables := map[string]*apiservercel.DeclType{Self: scope.Self}
			for _, other := range scope.Others {
				variables[other.Name] = other.Type
			}
			s.definitions[sharedPrefix+name] = costbound.Variable{Checked: checked.NativeRep(), Variables: variables}
		}
	}
	s.fields[name], s.analyses[sharedPrefix+name] = &types.FieldType{Type: t}, analysis
}

// Names returns the names of the variables that have been declared, in no order.
func (s *Shared) Names() iter.Seq[string] { return maps.Keys(s.fields) }

// sharedPrefix precedes the names of shared variables.
const sharedPrefix = Variables + "."

// sharedType is the type of the object variables. Expressions cannot contain the name.
var sharedType = types.NewObjectType("object(variables)")

// sharedResolver resolves the type of the object variables, and the types of another resolver.
type sharedResolver struct {
	*Shared
	others common.TypeResolver
}

// Resolve implements common.TypeResolver.
func (r sharedResolver) Resolve(name string) (common.ResolvedType, bool) {
	if name == sharedType.TypeName() {
		return sharedObject{r.Shared}, true
	}
	if r.others == nil {
		return nil, false
	}
	return r.others.Resolve(name)
}

// sharedObject implements common.ResolvedType.
type sharedObject struct{ shared *Shared }

// HasTrait implements ref.Type.
func (sharedObject) HasTrait(trait int) bool { return sharedType.HasTrait(trait) }

// TypeName implements ref.Type.
func (sharedObject) TypeName() string { return sharedType.TypeName() }

// Type implements common.ResolvedType.
func (sharedObject) Type() *types.Type { return sharedType }

// Field implements common.ResolvedType.
func (o sharedObject) Field(name string) (*types.FieldType, bool) {
	field, ok := o.shared.fields[name]
	return field, ok
}

// FieldNames implements common.ResolvedType.
func (o sharedObject) FieldNames() ([]string, bool) { return nil, true }

// Val implements common.ResolvedType. Expressions cannot construct the object.
func (o sharedObject) Val(map[string]ref.Val) ref.Val { return types.NoSuchOverloadErr() }

// ReadsShared reports whether the expression reads a shared variable.
func (x *Expression) ReadsShared(name string) bool {
	return x.has(func(_ *ast.AST, node ast.Expr) bool {
		return node.Kind() == ast.IdentKind && node.AsIdent() == sharedPrefix+name
	})
}

// ReadsNamespace reports whether the expression reads a field of a Declaration with IsNamespace.
func (x *Expression) ReadsNamespace(name string) bool {
	declared := x.environment.scope.declared(name)
	return declared != nil && x.has(func(checked *ast.AST, node ast.Expr) bool {
		return node.Kind() == ast.IdentKind && checked.GetType(node.ID()).TypeName() == declared.TypeName()
	})
}

// has reports whether a subexpression has a property. It returns true if that cannot be told,
// because the expression cannot be checked again.
func (x *Expression) has(property func(checked *ast.AST, node ast.Expr) bool) bool {
	checked, err := x.ast()
	if err != nil {
		return true
	}
	native := checked.NativeRep()
	return syntax.Contains(native.Expr(), func(node ast.Expr) bool { return property(native, node) })
}

// declared returns the type of a variable, or nil if the scope has none of that name.
func (s *Scope) declared(name string) *apiservercel.DeclType {
	if name == Self || name == OldSelf {
		return s.Self
	}
	for i := range s.Others {
		if s.Others[i].Name == name {
			return s.Others[i].Type
		}
	}
	return nil
}

// outermost returns the type of the whole object: the type of Root, if the scope declares it, and
// otherwise that of Self.
func (s *Scope) outermost() *apiservercel.DeclType {
	if root := s.declared(Root); root != nil {
		return root
	}
	return s.Self
}

// resolveNamespaces replaces each selection from a variable with IsNamespace by a variable of its
// own, such as variables.a, and reports other uses of the variable as issues. Without that,
// variables.a.?b would never have a value: cel-go does not look into an optional that a selection
// returns, but does look into one that is the value of a variable.
func (e *Environment) resolveNamespaces(checked *cel.Ast) *cel.Issues {
	namespaces := map[string]string{}
	if e.scope.Shared != nil {
		namespaces[sharedType.TypeName()] = Variables
	}
	for _, other := range e.scope.Others {
		if other.IsNamespace {
			namespaces[other.Type.TypeName()] = other.Name
		}
	}
	if len(namespaces) == 0 {
		return nil
	}
	native := checked.NativeRep()
	selected := map[int64]bool{}
	issues := syntax.NewIssues(checked)
	ast.PreOrderVisit(native.Expr(), ast.NewExprVisitor(func(node ast.Expr) {
		if node.Kind() == ast.SelectKind && !node.AsSelect().IsTestOnly() && node.AsSelect().Operand().Kind() == ast.IdentKind {
			selected[node.AsSelect().Operand().ID()] = true
		}
		if name, ok := namespaces[native.GetType(node.ID()).TypeName()]; ok && !selected[node.ID()] {
			issues.ReportErrorAtID(node.ID(), "%s is no value: select one of its fields, such as %s.a", name, name)
		}
	}))
	if issues.Err() != nil {
		return issues
	}
	factory := ast.NewExprFactory()
	ast.PostOrderVisit(native.Expr(), ast.NewExprVisitor(func(node ast.Expr) {
		if node.Kind() == ast.SelectKind && native.GetType(node.AsSelect().Operand().ID()).TypeName() == sharedType.TypeName() {
			name := sharedPrefix + node.AsSelect().FieldName()
			node.SetKindCase(factory.NewIdent(node.ID(), name))
			native.SetReference(node.ID(), ast.NewIdentReference(name, nil))
		}
	}))
	return nil
}
