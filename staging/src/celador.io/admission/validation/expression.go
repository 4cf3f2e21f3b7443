// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
)

// maxValueExpression is half of the 10 kB that the value of an audit annotation may have, because
// expressions often return more text than they consist of.
const maxValueExpression = 5 << 10 // bytes

const blank = "must be non-empty if specified"

// texts holds, by role, how Kubernetes treats blank and long text of an expression.
var texts = map[policyspec.Role]struct {
	// trims is set if surrounding space is removed before compilation, so that columns in errors
	// count from the first character that is not a space.
	trims bool
	// quotesTrimmed is set if errors quote the text without that space.
	quotesTrimmed bool
	// missing is the detail of the error for blank text.
	missing string
	// optional is set if the field may be absent. Blank text is then invalid instead of missing.
	optional bool
	// maxBytes is the maximum length, and 0 for no maximum.
	maxBytes int
}{
	policyspec.MatchCondition:    {trims: true, quotesTrimmed: true},
	policyspec.Variable:          {missing: "expression is not specified"},
	policyspec.Validation:        {missing: "expression is not specified"},
	policyspec.Message:           {optional: true},
	policyspec.AuditAnnotation:   {trims: true, missing: "valueExpression is not specified", maxBytes: maxValueExpression},
	policyspec.MutationCondition: {trims: true, quotesTrimmed: true},
	policyspec.Patch:             {trims: true, quotesTrimmed: true},
	policyspec.Index:             {optional: true},
}

// expressionErrors holds the errors of a policy's expressions by field. All expressions are
// compiled before other fields are checked, and the check of the object around a field takes its
// errors, so that errors come in the order of the fields.
type expressionErrors struct {
	byField map[string]field.ErrorList
	// sameConditions is set if match conditions that were valid are still valid, because neither
	// they nor the declaration of 'params' changed.
	sameConditions bool
}

// take returns and removes the errors of the expression in a field.
func (e expressionErrors) take(path *field.Path) field.ErrorList {
	errs := e.byField[path.String()]
	delete(e.byField, path.String())
	return errs
}

// rest returns the errors that no check has taken.
func (e expressionErrors) rest(policy *policyspec.Anatomy) field.ErrorList {
	var errs field.ErrorList
	for i := range policy.Expressions {
		errs = append(errs, e.take(policy.Expressions[i].Path)...)
	}
	return errs
}

// checkExpressions compiles the expressions of a policy. Expressions that the stored policy
// contains may use every CEL feature. Others may use the features that a rollback leaves
// available. Match conditions are checked only if they or paramKind change.
func checkExpressions(policy, stored *policyspec.Anatomy) expressionErrors {
	plain := expression.Default()
	composed := plain
	conditions := plain
	var composition *expression.Composition // nil if the policy has nothing to declare
	if policy.Mutates || policy.Has(policyspec.Variable) || len(policy.Lookups) > 0 {
		composition = plain.Compose()
		defer plain.Release(composition)
		composed = composition.Compiler
	}
	if len(policy.Lookups) > 0 {
		composition.DeclareLookups(policy.LookupNames()...)
		conditions = composed
	}

	known := stored.Sources()
	found := expressionErrors{map[string]field.ErrorList{}, policy.SameConditions(stored)}
	for i := range policy.Expressions {
		e := &policy.Expressions[i]
		if e.Role == policyspec.MatchCondition && found.sameConditions {
			continue
		}
		source, quoted, errs := checkText(e)
		if errs == nil {
			origin := environment.NewExpressions
			if known[e.Source] {
				origin = environment.StoredExpressions
			}
			var program *expression.Program
			var err *apiservercel.Error
			switch e.Role {
			case policyspec.MatchCondition:
				program, err = conditions.Compile(source, policy.Declarations(e), origin, e.Returns()...)
			case policyspec.Index:
				_, err = plain.Compile(source, policy.Declarations(e), origin, e.Returns()...)
			case policyspec.Variable:
				_, err = composition.Declare(e.Name, source, policy.Declarations(e), origin)
			default:
				program, err = composed.Compile(source, policy.Declarations(e), origin, e.Returns()...)
			}
			errs = compileErrors(e, quoted, program, err)
		}
		if len(errs) > 0 {
			found.byField[e.Path.String()] = errs
		}
	}
	return found
}

// checkText returns the text to compile and the text to quote in errors, or the errors for a text
// that is blank or too long.
func checkText(e *policyspec.Expression) (source, quoted string, errs field.ErrorList) {
	text, trimmed := texts[e.Role], strings.TrimSpace(e.Source)
	source, quoted = e.Source, e.Source
	if text.trims {
		source = trimmed
	}
	if text.quotesTrimmed {
		quoted = trimmed
	}
	switch {
	case trimmed == "" && text.optional:
		errs = invalid(e.Path, e.Source, blank)
	case trimmed == "":
		errs = missing(e.Path, text.missing)
	case text.maxBytes > 0 && len(trimmed) > text.maxBytes:
		errs = missing(e.Path, fmt.Sprintf("must not exceed %d bytes in length", text.maxBytes))
	}
	return source, quoted, errs
}

// compileErrors returns the errors of a compilation. quoted is the text that they quote. program is
// nil for a variable, which may have any type.
func compileErrors(e *policyspec.Expression, quoted string, program *expression.Program, err *apiservercel.Error) field.ErrorList {
	switch {
	case err != nil && err.Type == apiservercel.ErrorTypeInvalid:
		return invalid(e.Path, quoted, err.Detail)
	case err != nil:
		return field.ErrorList{field.InternalError(e.Path, err)}
	case program == nil:
		return nil
	}
	if err := e.CheckType(program.OutputType()); err != nil {
		return invalid(e.Path, quoted, err.Error())
	}
	return nil
}
