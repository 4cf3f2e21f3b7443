// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/google/cel-go/common/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/admission/cel/schemaexpression"
	"celador.io/admission/warningtext"
)

// costLimitExceeded is the beginning of cel-go's error for an expression that costs more than
// celconfig.PerCallLimit.
const costLimitExceeded = "operation cancelled: actual cost limit exceeded"

var errOutOfBudget = errors.New("validation failed due to running out of cost budget, no further validation rules will be run")

// evaluate evaluates the rules of a node. If it returns false, the budget is negative and no more
// rules may be evaluated.
func (e *evaluation) evaluate(n *node, value, old any) bool {
	if len(n.rules) == 0 {
		return true
	}
	program := n.program()
	if program.err != nil {
		e.invalid(n, "rule compiler initialization error: %v", program.err)
		return true
	}
	if e.budget <= 0 {
		return e.stop(n, errOutOfBudget)
	}
	variables := variables{node: n, old: old, readsOld: program.readsOld}
	variables.plain.Self = schemaexpression.Value(value, n.values)
	for i := range program.rules {
		compiled, rule := &program.rules[i], &n.rules[i]
		switch {
		case compiled.err != nil:
			e.invalid(n, "rule compile error: %v", compiled.err)
			continue
		case compiled.rule == nil:
			continue
		case compiled.readsOld && isNil(old) && !optional(rule):
			// A rule that reads oldSelf applies to updates only.
			continue
		}
		holds, proceed := e.holds(n, compiled, rule, variables.of(rule))
		if !proceed {
			return false
		}
		if !holds && !e.report(n, compiled, rule, value, &variables) {
			return false
		}
	}
	return true
}

// holds evaluates a rule and reports whether it holds. If the evaluation fails, holds appends the
// error, and returns true so that no second error is reported. If proceed is false, no more rules
// may be evaluated.
func (e *evaluation) holds(n *node, compiled *compiledRule, rule *apiextensionsv1.ValidationRule, in *schemaexpression.Activation) (holds, proceed bool) {
	result := compiled.rule.Evaluate(e.ctx, in)
	if !result.HasCost {
		e.add(field.InternalError(e.path(), fmt.Errorf("runtime cost could not be calculated for validation rule: %v, no further validation rules will be run", describe(rule))))
		e.budget = -1
		return false, false
	}
	if !e.spend(result.Cost) {
		return false, e.stop(n, errOutOfBudget)
	}
	if result.Err == nil {
		return result.Value == types.True, true
	}
	switch message := result.Err.Error(); {
	case strings.HasPrefix(message, "no such overload"):
		// Types are checked at run time for values such as int-or-string, which are dynamic.
		// cel-go's error does not name the call, so the message shows the rule.
		e.invalid(n, "'%v': call arguments did not match a supported operator, function or macro signature for rule: %v", message, describe(rule))
	case strings.HasPrefix(message, costLimitExceeded):
		return false, e.stop(n, fmt.Errorf("'%v': no further validation rules will be run due to call cost exceeds limit for rule: %v", message, describe(rule)))
	default:
		e.invalid(n, "%v evaluating rule: %v", message, describe(rule))
	}
	return true, true
}

// report adds the error of a rule that does not hold. If it returns false, no more rules may be
// evaluated.
func (e *evaluation) report(n *node, compiled *compiledRule, rule *apiextensionsv1.ValidationRule, value any, variables *variables) bool {
	path := e.path()
	if compiled.messageErr == nil {
		if relative := n.path(rule); relative != "" {
			path = path.Child(relative)
		}
	}
	detail := ""
	if compiled.message != nil {
		var fatal *field.Error
		// As in Kubernetes, messageExpression reads oldSelf as a plain value, even if it is an
		// optional in the rule.
		if detail, fatal = e.message(n, compiled.message, path, &variables.plain); fatal != nil {
			e.addUnlessUnchanged(compiled, fatal)
			e.budget = -1
			return false
		}
	}
	if detail == "" {
		detail = strings.TrimSpace(rule.Message)
		if rule.Message == "" {
			detail = "failed rule: " + describe(rule)
		}
	}
	if n.schema.Type == "object" || n.schema.Type == "array" {
		value = field.OmitValueType{}
	}
	e.addUnlessUnchanged(compiled, newError(path, value, detail, rule.Reason))
	return true
}

func newError(path *field.Path, value any, detail string, reason *apiextensionsv1.FieldValueErrorReason) *field.Error {
	if reason != nil {
		switch *reason {
		case apiextensionsv1.FieldValueForbidden:
			return field.Forbidden(path, detail)
		case apiextensionsv1.FieldValueRequired:
			return field.Required(path, detail)
		case apiextensionsv1.FieldValueDuplicate:
			return field.Duplicate(path, value)
		}
	}
	return field.Invalid(path, value, detail)
}

// describe returns the message of a rule, or its source if it has none.
func describe(rule *apiextensionsv1.ValidationRule) string {
	if rule.Message != "" {
		return strings.TrimSpace(rule.Message)
	}
	return strings.TrimSpace(rule.Rule)
}

// addUnlessUnchanged adds the error of a rule, or only a warning if an update leaves the value as
// it was (ratcheting). A rule that reads oldSelf always causes an error, since it may have held
// before the update.
func (e *evaluation) addUnlessUnchanged(compiled *compiledRule, err *field.Error) {
	if !compiled.readsOld && e.instance.Correlation != nil && e.at.unchanged(e.instance.Correlation()) {
		warning.AddWarning(e.ctx, "", warningtext.Of(err.Error()))
		return
	}
	e.add(err)
}

// invalid adds the error of a rule that cannot be compiled or evaluated. As in Kubernetes, the
// error shows the type of the value instead of the value.
func (e *evaluation) invalid(n *node, format string, arguments ...any) {
	e.add(field.Invalid(e.path(), n.schema.Type, fmt.Sprintf(format, arguments...)))
}

// stop adds an error after which no more rules are evaluated, and returns false.
func (e *evaluation) stop(n *node, err error) bool {
	e.add(field.Invalid(e.path(), n.schema.Type, err.Error()))
	e.budget = -1
	return false
}

func (e *evaluation) add(err *field.Error) { e.errs = append(e.errs, err) }

func (e *evaluation) path() *field.Path { return e.at.path(e.instance.Path) }

// spend subtracts a cost from the budget and returns true. If the budget is smaller, it returns
// false.
func (e *evaluation) spend(cost uint64) bool {
	if cost > math.MaxInt64 || int64(cost) > e.budget {
		return false
	}
	e.budget -= int64(cost)
	return true
}
