// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"slices"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/parser"
	"celador.io/admission/cel/typesize"
	"celador.io/admission/policyspec"
)

// A Checker type checks the expressions of policies. It keeps no reference to the policies and
// schemas that it has checked. It is safe for concurrent use if its Types are.
type Checker struct {
	env    *cel.Env
	parser *parser.Parser
	// patchEnv extends env with the types of mutations.
	patchEnv *cel.Env
	// sizes infers type sizes for expressions in both environments, to reject expressions with
	// types so large that cel-go would check them for hours.
	sizes *typesize.Overloads
	types Types
	// lookups holds the types of the lookups of the policy that is checked, by name.
	lookups map[string]resolvedType
	// maxCost limits the cost of checking a policy.
	maxCost int
}

// New returns a checker whose expressions may use everything that stored expressions may use in
// the base environment. It fails if the environment cannot be extended. types may be nil if every
// check uses With.
func New(base *environment.EnvSet, types Types) (*Checker, error) {
	set, err := base.Extend(expression.RequestDeclarations())
	if err != nil {
		return nil, fmt.Errorf("declaring request and namespaceObject: %w", err)
	}
	patchSet, err := set.Extend(expression.PatchDeclarations())
	if err != nil {
		return nil, fmt.Errorf("declaring the types of mutations: %w", err)
	}
	patchEnv := patchSet.StoredExpressionsEnv()
	bounded, err := parser.BoundMacros(set.StoredExpressionsEnv())
	if err != nil {
		return nil, fmt.Errorf("bounding the copies of macros: %w", err)
	}
	return &Checker{env: set.StoredExpressionsEnv(), parser: parser.New(bounded), patchEnv: patchEnv, sizes: typesize.NewOverloads(patchEnv), types: types, maxCost: maxCost}, nil
}

// With returns a checker that finds types in types. It shares the environments of c and is cheap
// to create, for example for a single check against a snapshot of the types.
func (c *Checker) With(types Types) *Checker {
	with := *c
	with.types = types
	return &with
}

// Within returns a checker that spends at most about the given cost on a policy, if that is less
// than what other checkers spend. Checking an expression against a type costs 100 units and one for
// each byte, more for very long expressions and very large types; a unit takes about a microsecond.
// When the cost is spent, or a policy's first type would exceed it, the remaining types are not
// checked: the result lists them as TooManyTypes. The checker shares the environments of c and is
// cheap to create.
func (c *Checker) Within(cost int) *Checker {
	within := *c
	within.maxCost = min(cost, c.maxCost)
	return &within
}

// CheckValidating checks each expression of a policy against each type that the policy's match
// constraints name. The result lists types that could not be checked, with the reason. The policy
// is not changed.
func (c *Checker) CheckValidating(policy *v1.ValidatingAdmissionPolicy) *Result {
	return c.check(policyspec.Validating(&policy.Spec))
}

// CheckMutating checks each expression of a policy like CheckValidating. It also checks the objects
// that mutations construct: their type must have the fields, and the values the fields' types.
func (c *Checker) CheckMutating(policy *v1.MutatingAdmissionPolicy) *Result {
	return c.check(policyspec.Mutating(&policy.Spec))
}

func (c *Checker) check(policy *policyspec.Anatomy) *Result {
	result := &Result{}
	if len(policy.Lookups) > 0 {
		looking := *c
		looking.lookups = c.findLookups(policy.Lookups, result)
		c = &looking
	}
	expressions := c.expressionsOf(policy)
	params := c.findParams(policy.ParamKind, result)
	var checked []checkedType
	targets := c.findTargets(policy.MatchConstraints, result)
	budget := newBudget(expressions, c.maxCost)
	for _, t := range targets {
		if budget.exhausted() {
			result.omit(Unchecked{Field: t.field, Resource: t.resource, Kind: t.kind, Reason: TooManyTypes, Err: budget.err()})
			continue
		}
		object, err := c.resolve(t.kind)
		var assessments []assessment
		if err == nil {
			assessments, err = c.checkType(expressions, object, params)
		}
		if err != nil {
			result.omit(Unchecked{Field: t.field, Resource: t.resource, Kind: t.kind, Reason: reasonOf(err), Err: err})
			continue
		}
		budget.charge(assessments)
		result.Types = append(result.Types, t.kind)
		checked = append(checked, checkedType{object, assessments})
	}
	if len(checked) == 0 && !budget.exhausted() {
		c.findUntyped(expressions, params, result)
	}
	if policy.Enforced() && result.hasWildcard() && !budget.exhausted() {
		object := c.metadataOnly(result)
		assessments, err := c.checkType(expressions, object, params)
		if err != nil {
			result.omit(Unchecked{Field: constraintsField.String(), Reason: reasonOf(err), Err: err})
		} else {
			checked = append(checked, checkedType{object, assessments})
		}
	}
	c.findGuarded(expressions, params, checked, result.coversAll(targets))
	for i, e := range expressions {
		for _, t := range checked {
			a := t.assessments[i]
			if a.message == "" {
				continue
			}
			f := Finding{Field: e.Path.String(), Type: t.object.kind, Message: a.message, Issues: a.issues, Guarded: a.guarded, Unknown: a.unknown}
			if a.causedByParams {
				f.Params = params.kind
			}
			switch {
			case f.Type != wildcardKind:
				result.Findings = append(result.Findings, f)
			case !f.Guarded:
				result.BehindWildcard = append(result.BehindWildcard, f)
			}
		}
	}
	if result.coversAll(targets) {
		checkScopes(policy, checked, result)
	}
	c.checkIndexes(policy, result)
	checkFieldPaths(policy, checked, result.coversAll(targets), result)
	return result
}

// findUntyped adds findings for a policy of which no type could be checked. They are only about
// escaped field names such as max__dash__size, which are errors for objects of any type.
func (c *Checker) findUntyped(expressions []fieldExpression, params *resolvedType, result *Result) {
	assessments, err := c.checkExpressions(expressions, resolvedType{}, params)
	if err != nil {
		return // the environment cannot be extended, which the check of a type reports
	}
	for i := range assessments {
		if found := assessments[i].escapes; found != nil {
			result.Findings = append(result.Findings, Finding{Field: expressions[i].Path.String(), Message: found.message, Issues: found.issues})
		}
	}
}

// checkedType holds an assessment of each expression for objects of one type.
type checkedType struct {
	object      resolvedType
	assessments []assessment
}

// An assessment is the result of checking one expression for objects of one type.
type assessment struct {
	// readsOldSelf is set if the expression has no type errors and reads 'oldSelf'.
	readsOldSelf bool
	// cost is the cost of the types of the expression's subexpressions.
	cost int
	// message describes the type errors. It is empty if there are none.
	message string
	// issues are the first of the type errors.
	issues []Issue
	// escapes holds the message and the issues of escaped field names alone, such as
	// max__dash__size. It is nil if there are none.
	escapes *assessment
	// causedByParams is set if the errors go away when 'params' has dynamic type.
	causedByParams bool
	// absent are the IDs of has() calls on fields that the type does not have.
	absent []int64
	// guarded is set if no subexpression with an error is evaluated while the has() calls in absent
	// are false.
	guarded bool
	// unknown is set if guarded depends on a field that no type of the policy has.
	unknown bool
}

// checkType checks the expressions for objects of one type. If there are errors, it checks them
// again with 'params' of dynamic type, to find the errors that are about params.
func (c *Checker) checkType(expressions []fieldExpression, object resolvedType, params *resolvedType) ([]assessment, error) {
	assessments, err := c.checkExpressions(expressions, object, params)
	hasErrors := func(a assessment) bool { return a.message != "" }
	if err != nil || params == nil || params.schema == nil || !slices.ContainsFunc(assessments, hasErrors) {
		return assessments, err
	}
	without, err := c.checkExpressions(expressions, object, &resolvedType{})
	if err != nil {
		return nil, err
	}
	for i := range assessments {
		assessments[i].causedByParams = without[i].message == ""
	}
	return assessments, nil
}

// checkExpressions checks the expressions in order. Each variable is in scope of the expressions
// after it.
func (c *Checker) checkExpressions(expressions []fieldExpression, object resolvedType, params *resolvedType) ([]assessment, error) {
	s := c.newScope(object, params)
	assessments := make([]assessment, len(expressions))
	for i, e := range expressions {
		output, a, err := s.check(e)
		if err != nil {
			return nil, err
		}
		assessments[i] = a
		if e.Role == policyspec.Variable {
			s.types.variables[e.Name] = s.variables.Of(output)
		}
	}
	return assessments, nil
}
