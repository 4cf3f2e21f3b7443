// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import (
	"slices"

	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
)

// requestTimeReads returns the expressions of a policy that read request.time. It compiles the
// expressions that may do so by their text, and all variables, as the engines do, and nothing if no
// expression may. Expressions that do not compile are left out.
func requestTimeReads(policy *Anatomy) []*Expression {
	// An index reads no request.
	mayRead := func(e Expression) bool { return e.Role != Index && expression.MayReadRequestTime(e.Source) }
	if !slices.ContainsFunc(policy.Expressions, mayRead) {
		return nil
	}
	compiler := expression.Default()
	composition := compiler.Compose()
	defer compiler.Release(composition)
	composition.DeclareLookups(policy.LookupNames()...)
	programs := make([]*expression.Program, len(policy.Expressions))
	for i := range policy.Expressions {
		if e := &policy.Expressions[i]; e.Role == Variable {
			programs[i], _ = composition.Declare(e.Name, e.Source, policy.Declarations(e), environment.StoredExpressions)
		}
	}
	var found []*Expression
	for i := range policy.Expressions {
		e := &policy.Expressions[i]
		if e.Role != Variable && mayRead(*e) {
			programs[i], _ = composition.Compile(e.Source, policy.Declarations(e), environment.StoredExpressions, e.Returns()...)
		}
		if programs[i] != nil && programs[i].ReadsRequestTime() {
			found = append(found, e)
		}
	}
	return found
}
