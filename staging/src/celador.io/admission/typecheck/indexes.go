// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/policyspec"
)

// checkIndexes checks the indexes of lookups. An index does not depend on the object of a request,
// so it is checked once, for the type of the objects that its lookup finds.
func (c *Checker) checkIndexes(policy *policyspec.Anatomy, result *Result) {
	for i := range policy.Expressions {
		e := &policy.Expressions[i]
		if e.Role != policyspec.Index {
			continue
		}
		item := c.lookups[policy.Lookups[e.Index].Name]
		omit := func(reason Reason, err error) {
			result.omit(Unchecked{Field: e.Path.String(), Kind: item.kind, Reason: reason, Err: err})
		}
		index := fieldExpression{Expression: e, parse: sync.OnceValues(func() (syntax, error) { return c.parse(e.Source) })}
		if budget := newBudget([]fieldExpression{index}, c.maxCost); budget.exhausted() {
			omit(TooManyTypes, budget.err())
			continue
		}
		found, err := c.newScope(item, nil).checkIndex(index)
		switch {
		case err != nil:
			omit(reasonOf(err), err)
		case found.message != "":
			result.Findings = append(result.Findings, Finding{Field: e.Path.String(), Type: item.kind, Message: found.message, Issues: found.issues})
		}
	}
}

// checkIndex returns the assessment of an index. Its keys have to be strings: API validation does
// not know the types of fields, and an index of other values finds no object.
func (s *scope) checkIndex(index fieldExpression) (assessment, error) {
	output, a, err := s.check(index)
	if err != nil || a.message != "" || isKeys(output) {
		return a, err
	}
	parsed, err := index.parse()
	if err != nil {
		return a, err
	}
	tree := parsed.tree()
	root := tree.NativeRep().Expr().ID()
	issues := cel.NewIssues(common.NewErrors(tree.Source()).Append([]*common.Error{{
		ExprID:   root,
		Location: tree.NativeRep().SourceInfo().GetStartLocation(root),
		Message:  fmt.Sprintf("must evaluate to string or list(string) but got %s", checker.FormatCELType(output)),
	}}))
	a.message, a.issues = messageOf(tree.Source(), issues), s.issuesOf(tree, nil, issues)
	return a, nil
}

// isKeys reports whether values of a type may be keys, or a list of keys.
func isKeys(t *cel.Type) bool {
	if t.Kind() == types.ListKind {
		t = t.Parameters()[0]
	}
	return t.IsExactType(cel.StringType) || t.IsExactType(cel.NullableType(cel.StringType)) || t.Kind() == types.DynKind || t.Kind() == types.TypeParamKind
}
