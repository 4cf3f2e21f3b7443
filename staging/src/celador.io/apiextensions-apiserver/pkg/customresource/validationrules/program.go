// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	"errors"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/metrics"

	"celador.io/admission/cel/schemaexpression"
)

// selfType is the type name of self, which appears in error messages. Kubernetes validates a
// CustomResourceDefinition with a new name of the type each time, so no stored rule contains this
// one.
const selfType = "selfType"

// A program holds the compiled rules of a node. It is immutable.
type program struct {
	rules []compiledRule
	// err is set if the type cannot be used in expressions. No rule is compiled then.
	err error
	// readsOld is set if a rule reads oldSelf.
	readsOld bool
}

type compiledRule struct {
	// rule is nil if the source is empty or err is set.
	rule *schemaexpression.Program
	err  error
	// message is nil if there is no messageExpression, or if it does not compile; messageErr is the
	// error then.
	message    *schemaexpression.Program
	messageErr error
	readsOld   bool
}

// compile compiles the rules of a node whose values have the declared type. The type is nil if
// expressions cannot read such values.
func compile(compiler *schemaexpression.Compiler, rules apiextensionsv1.ValidationRules, declared *apiservercel.DeclType) *program {
	start := time.Now()
	defer func() { metrics.Metrics.ObserveCompilation(time.Since(start)) }()
	if declared == nil {
		return &program{err: errors.New("failed to convert to declType for CEL validation rules")}
	}
	environments := environments{compiler: compiler, self: declared.MaybeAssignTypeName(selfType)}
	p := &program{rules: make([]compiledRule, len(rules))}
	for i := range rules {
		rule := &rules[i]
		if strings.TrimSpace(rule.Rule) == "" {
			continue
		}
		environment, err := environments.of(rule)
		if err != nil {
			return &program{err: err}
		}
		p.rules[i] = compileRule(environment, rule)
		p.readsOld = p.readsOld || p.rules[i].readsOld
	}
	return p
}

// environments holds the two environments in which the rules of a node are compiled: in plain,
// oldSelf has the type of self, and in optional it is an optional. Each is made for the first rule
// that needs it.
type environments struct {
	compiler        *schemaexpression.Compiler
	self            *apiservercel.DeclType
	plain, optional *schemaexpression.Environment
}

func (e *environments) of(rule *apiextensionsv1.ValidationRule) (*schemaexpression.Environment, error) {
	scope, cached := schemaexpression.Scope{Self: e.self, OldSelf: schemaexpression.PlainOldSelf}, &e.plain
	if optional(rule) {
		scope.OldSelf, cached = schemaexpression.OptionalOldSelf, &e.optional
	}
	var err error
	if *cached == nil {
		*cached, err = e.compiler.Environment(scope, environment.StoredExpressions)
	}
	return *cached, err
}

// optional reports whether the rule declares oldSelf as an optional, so that it also runs on
// create.
func optional(rule *apiextensionsv1.ValidationRule) bool {
	return rule.OptionalOldSelf != nil && *rule.OptionalOldSelf
}

// compileRule compiles a rule and its messageExpression. The server has compiled both when it
// stored the CustomResourceDefinition, so an error means that another version of the server stored
// it.
func compileRule(environment *schemaexpression.Environment, rule *apiextensionsv1.ValidationRule) compiledRule {
	expression, err := environment.Compile(rule.Rule)
	if err != nil {
		return compiledRule{err: err}
	}
	if expression.OutputType() != cel.BoolType {
		return compiledRule{err: errors.New("cel expression must evaluate to a bool")}
	}
	c := compiledRule{readsOld: expression.ReadsOldSelf()}
	var planErr error
	if c.rule, planErr = expression.Program(); planErr != nil {
		c.err = errors.New("program instantiation failed: " + planErr.Error())
		return c
	}
	if rule.MessageExpression != "" {
		c.message, c.messageErr = compileMessage(environment, rule.MessageExpression)
	}
	return c
}

func compileMessage(environment *schemaexpression.Environment, source string) (*schemaexpression.Program, error) {
	expression, err := environment.Compile(source)
	if err != nil {
		return nil, err
	}
	if expression.OutputType() != cel.StringType {
		return nil, errors.New("messageExpression must evaluate to a string")
	}
	return expression.Program()
}
