// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"

	"github.com/google/cel-go/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Check parses and checks an expression. env extends the environment of b with variables and types
// only. Check turns panics into errors.
//
// If rewrite is not nil, it is called before the type check and may change the parsed expression.
func (b *Builtins) Check(env *cel.Env, source string, rewrite func(parsed *cel.Ast)) (checked *cel.Ast, issues *cel.Issues, err error) {
	defer rescue(&err)
	parsed, issues := b.Parse(source)
	if issues != nil {
		return nil, issues, nil
	}
	if rewrite != nil {
		rewrite(parsed)
	}
	if issues = b.sizes.Check(env, parsed); issues == nil {
		checked, issues = env.Check(parsed)
	}
	return checked, issues, nil
}

// Invalid returns the error for an expression with issues.
func Invalid(issues *cel.Issues) *apiservercel.Error {
	return &apiservercel.Error{
		Type:   apiservercel.ErrorTypeInvalid,
		Detail: "compilation failed: " + issues.String(),
		Cause:  apiservercel.NewCompilationError(issues),
	}
}

// InternalError returns the error for an expression that may be valid but cannot be compiled.
func InternalError(format string, args ...any) *apiservercel.Error {
	return &apiservercel.Error{Type: apiservercel.ErrorTypeInternal, Detail: fmt.Sprintf(format, args...)}
}
