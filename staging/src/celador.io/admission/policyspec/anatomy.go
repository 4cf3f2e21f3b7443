// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policyspec declares the anatomy of admission policies: the expressions of a
// policy, the fields that need a feature, and the predicates on its spec.
//
// API validation, the engines, type checking, the registry and the loader of manifest files
// iterate over these declarations. None of them has a list of expressions or of gated fields
// of its own.
package policyspec

import (
	"slices"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/expression"
)

// Anatomy holds the expressions and the other fields of a policy, in one form for both kinds. It
// refers to the spec from which it was made, which must not be changed while the Anatomy is in use.
type Anatomy struct {
	// FailurePolicy has the API's default if the spec has none.
	FailurePolicy    v1.FailurePolicyType
	ParamKind        *v1.ParamKind
	MatchConstraints *v1.MatchResources
	TypeChecking     *v1.TypeCheckingMode
	Lookups          []v1.Lookup
	// FieldPaths lists the fields that causes of denials name, in the order of the validations.
	FieldPaths []FieldPath
	// Singleton is set if the policy applies without a binding.
	Singleton bool
	// Mutates is set for mutating policies, whose expressions are compiled in another way: API
	// validation declares 'variables' to them even if the policy has none, as Kubernetes does. The
	// values of a list or map, and the alternatives of a conditional, may have different types, as
	// patches need.
	Mutates bool
	// Expressions lists the expressions of the policy: match conditions, variables, then the
	// validations or mutations, in the order of the spec, and at last the indexes of lookups.
	//
	// API validation compiles match conditions without the policy's variables, because
	// Kubernetes does. The engines compile match conditions with them, also as Kubernetes does,
	// for policies that were stored before validation rejected such conditions.
	Expressions []Expression
}

// Expression is an expression of a policy.
type Expression struct {
	Role Role
	// Path is the field that holds the expression.
	Path *field.Path
	// Source is the expression as written.
	Source string
	// Index is the position of the match condition, variable, validation, audit annotation,
	// mutation or lookup in its list.
	Index int
	// Name is the name of a variable or of a match condition, and empty otherwise.
	Name string
	// PatchType is the patch type of the mutation, for role Patch. It is empty for other roles and
	// for spec.mutations[].expression.
	PatchType v1.PatchType
	// Scope is that of the validation, for its expression and message. It is nil without one.
	Scope *v1.ScopedValues
}

// FieldPath is the fieldPath of a validation.
type FieldPath struct {
	// Path is the field that holds the path.
	Path *field.Path
	// Source is the path as written.
	Source string
}

// Returns returns the types that the expression may have. cel.AnyType accepts every type; see
// CheckType. The slice must not be changed.
func (e *Expression) Returns() []*cel.Type {
	if e.Role == Patch {
		return patchTypes[e.PatchType].returns
	}
	return e.Role.Returns()
}

// CheckType returns an error if API validation rejects an expression of a type that Returns
// accepts. Returns can list only cel.AnyType for merge patches, while validation requires Object or
// a map whose keys may be strings.
func (e *Expression) CheckType(output *cel.Type) error {
	if check := patchTypes[e.PatchType].check; e.Role == Patch && check != nil {
		return check(output)
	}
	return nil
}

// Declarations returns the optional variables and types that the expression e of p is compiled
// with.
func (p *Anatomy) Declarations(e *Expression) expression.Declarations {
	if e.Role == Index {
		return roles[Index].declarations
	}
	in := e.Role.Declarations(p.ParamKind != nil)
	in.Lookups, in.Self = len(p.Lookups) > 0, e.Scope != nil
	return in
}

// Enforced reports whether type errors keep the policy from deciding.
func (p *Anatomy) Enforced() bool { return IsEnforced(p.TypeChecking) }

// Has reports whether the policy has an expression with the given role.
func (p *Anatomy) Has(role Role) bool {
	return slices.ContainsFunc(p.Expressions, func(e Expression) bool { return e.Role == role })
}

// SameTypes reports whether type checking gives the same result for both policies whatever the
// schemas are, and both are Enforced or neither is. An update from one to the other then needs no
// check. The policies may differ in fieldPaths: a wrong fieldPath is only a warning.
func (p *Anatomy) SameTypes(other *Anatomy) bool {
	same := equality.Semantic.DeepEqual
	return same(p.TypeChecking, other.TypeChecking) && same(p.ParamKind, other.ParamKind) && same(p.MatchConstraints, other.MatchConstraints) && same(p.Lookups, other.Lookups) &&
		slices.EqualFunc(p.Expressions, other.Expressions, func(a, b Expression) bool {
			return a.Role == b.Role && a.Index == b.Index && a.Source == b.Source && a.PatchType == b.PatchType &&
				same(a.Scope, b.Scope) && (a.Role != Variable || a.Name == b.Name)
		})
}

// SameConditions reports whether both policies have the same match conditions, paramKind and
// lookups.
func (p *Anatomy) SameConditions(other *Anatomy) bool {
	same := equality.Semantic.DeepEqual
	return same(p.ParamKind, other.ParamKind) && same(p.Lookups, other.Lookups) && slices.EqualFunc(p.conditions(), other.conditions(), func(a, b Expression) bool {
		return a.Name == b.Name && a.Source == b.Source
	})
}

func (p *Anatomy) conditions() []Expression {
	return slices.DeleteFunc(slices.Clone(p.Expressions), func(e Expression) bool { return e.Role != MatchCondition })
}

// Sources returns the distinct sources of the policy's expressions.
func (p *Anatomy) Sources() map[string]bool {
	sources := make(map[string]bool, len(p.Expressions))
	for i := range p.Expressions {
		sources[p.Expressions[i].Source] = true
	}
	return sources
}

func (p *Anatomy) addConditions(conditions []v1.MatchCondition) {
	for i, c := range conditions {
		p.Expressions = append(p.Expressions, Expression{
			Role: MatchCondition, Path: specPath.Child("matchConditions").Index(i).Child("expression"), Source: c.Expression, Index: i, Name: c.Name,
		})
	}
}

func (p *Anatomy) addVariables(variables []v1.Variable) {
	for i, v := range variables {
		p.Expressions = append(p.Expressions, Expression{
			Role: Variable, Path: specPath.Child("variables").Index(i).Child("expression"), Source: v.Expression, Index: i, Name: v.Name,
		})
	}
}

// LookupNames returns the names of the policy's lookups.
func (p *Anatomy) LookupNames() []string {
	names := make([]string, len(p.Lookups))
	for i := range p.Lookups {
		names[i] = p.Lookups[i].Name
	}
	return names
}

func (p *Anatomy) addIndexes() {
	for i := range p.Lookups {
		if index := p.Lookups[i].Index; index != nil {
			p.Expressions = append(p.Expressions, Expression{Role: Index, Path: specPath.Child("lookups").Index(i).Child("index"), Source: *index, Index: i})
		}
	}
}

var specPath = field.NewPath("spec")
