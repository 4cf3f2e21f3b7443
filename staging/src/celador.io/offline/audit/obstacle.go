// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"fmt"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
)

// obstacle returns why a policy cannot be evaluated over stored objects, or an empty string. An
// audit presents each object as created now, and knows neither the user who wrote it nor the object
// before the write.
func obstacle(p *v1.ValidatingAdmissionPolicy) string {
	if !matchesCreate(p.Spec.MatchConstraints) {
		return "spec.matchConstraints: the policy matches no CREATE of an object, and an audit presents objects as created"
	}
	spec := policyspec.Validating(&p.Spec)
	for _, e := range spec.Expressions {
		if name := unknown(e.Source); name != "" {
			return fmt.Sprintf("%s: the expression reads %s, which an audit does not know", e.Path, name)
		}
	}
	return ""
}

func matchesCreate(match *v1.MatchResources) bool {
	return match != nil && slices.ContainsFunc(match.ResourceRules, func(rule v1.NamedRuleWithOperations) bool {
		return (slices.Contains(rule.Operations, v1.Create) || slices.Contains(rule.Operations, v1.OperationAll)) && slices.ContainsFunc(rule.Resources, isWhole)
	})
}

// parser returns an environment with the syntax of stored policies.
var parser = sync.OnceValue(func() *cel.Env {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
})

// unknown returns the first part of a request that an expression reads and that an audit does not
// know, or an empty string. It returns none for an invalid expression, which fails in any case.
func unknown(source string) (found string) {
	parsed, issues := parser().Parse(source)
	if issues.Err() != nil {
		return ""
	}
	// selected holds the IDs of the nodes 'request' from which the expression selects a field other
	// than userInfo. An audit knows these fields. Any other use of 'request' may read userInfo.
	selected := map[int64]bool{}
	visit := func(e ast.Expr) {
		switch {
		case found != "":
		case e.Kind() == ast.SelectKind && isIdent(e.AsSelect().Operand(), "request") && e.AsSelect().FieldName() != "userInfo":
			selected[e.AsSelect().Operand().ID()] = true
		case isIdent(e, "oldObject"), isIdent(e, "authorizer"):
			found = e.AsIdent()
		case isIdent(e, "request") && !selected[e.ID()]:
			found = "request.userInfo"
		}
	}
	ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(visit))
	return found
}

func isIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }
