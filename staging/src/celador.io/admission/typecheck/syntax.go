// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
)

// syntax is an expression that is parsed once and checked many times. Parsing does not depend
// on what is in scope, and is most of the work: a character beyond ASCII takes 10 µs.
type syntax struct {
	// tree returns the expression anew, because checking changes it. Nil when it cannot be
	// parsed.
	tree func() *cel.Ast
	// message is what is wrong with one that cannot be parsed.
	message string
}

// parse returns what can be checked in any scope that extends the environment.
func parse(env *cel.Env, expression string) (syntax, error) {
	parsed, issues := env.Parse(expression)
	if failed(issues) {
		return syntax{message: messageOf(common.NewTextSource(expression), issues)}, nil
	}
	kept, err := cel.AstToParsedExpr(parsed)
	if err != nil {
		return syntax{}, fmt.Errorf("parsing %q: %w", expression, err)
	}
	source := parsed.Source()
	return syntax{tree: func() *cel.Ast { return cel.ParsedExprToAstWithSource(kept, source) }}, nil
}

// checkIn checks an expression in a scope. A panic is an issue.
func checkIn(env *cel.Env, parsed *cel.Ast) (checked *cel.Ast, issues *cel.Issues) {
	if err := try(func() { checked, issues = env.Check(parsed) }); err != nil {
		errs := common.NewErrors(parsed.Source())
		errs.ReportErrorString(common.NoLocation, err.Error())
		return nil, cel.NewIssues(errs)
	}
	return checked, issues
}

// try returns a panic of a check as an error. cel-go panics where an optional entry of a list
// or a map is of dynamic type, as in [?dyn(1)].
func try(check func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v", r)
		}
	}()
	check()
	return nil
}
