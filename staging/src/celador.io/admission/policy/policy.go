// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/expression"
	"celador.io/admission/matchconditions"
	"celador.io/admission/matching"
)

// Definition is what the API object of a policy says, whatever its kind. It must not
// change any more.
type Definition struct {
	metav1.Object
	FailurePolicy    *v1.FailurePolicyType
	ParamKind        *v1.ParamKind
	MatchConstraints *v1.MatchResources
	MatchConditions  []v1.MatchCondition
	Variables        []v1.Variable
	// Singleton is set when the policy applies without a binding.
	Singleton bool
	// Enforced is set when the policy may decide only if a verdict says so.
	Enforced bool
}

// Policy is a compiled policy, with what is particular to its kind in Body. Immutable.
// Expressions that do not compile stay in it with their errors, which requests then run
// into.
type Policy[B any] struct {
	Name string
	// FailurePolicy is Fail unless the policy says otherwise.
	FailurePolicy v1.FailurePolicyType
	// ParamKind is nil when the policy takes no params.
	ParamKind  *ParamKind
	Conditions matchconditions.Conditions
	Variables  []expression.Variable
	// ReadsParams is set when any expression may read 'params'.
	ReadsParams bool
	// Body is the zero value when no request can be decided.
	Body B

	criteria *matching.Criteria
	// invalid is why no request can be decided, whatever the verdict is.
	invalid error
	// uid and generation are the state of the object.
	uid        types.UID
	generation int64
	// enforced is set when the verdict counts.
	enforced bool
	// verdict is nil until there is one on this or an earlier generation.
	verdict *verdict
	// singleton is set when the policy applies without a binding.
	singleton bool
	// broken are the expressions that do not compile, with where they are.
	broken []error
}

// ParamKind is a paramKind whose apiVersion is parsed.
type ParamKind struct {
	*v1.ParamKind
	schema.GroupVersionKind
}

var errNoMatchConstraints = errors.New("policy contained no match constraints, a required field")

// Compile returns the policy that d defines, with a body whose expressions are compiled
// with the given scope.
func Compile[B any](compiler *expression.Compiler, d Definition, body func(*Scope) B) *Policy[B] {
	result := &Policy[B]{
		Name: d.GetName(), uid: d.GetUID(), generation: d.GetGeneration(),
		FailurePolicy: v1.Fail, singleton: d.Singleton, enforced: d.Enforced,
	}
	if d.FailurePolicy != nil {
		result.FailurePolicy = *d.FailurePolicy
	}
	if d.MatchConstraints == nil {
		result.criteria, result.invalid = matching.Compile(&v1.MatchResources{}), errNoMatchConstraints
		return result
	}
	result.criteria = matching.Compile(d.MatchConstraints)
	if d.ParamKind != nil {
		version, err := schema.ParseGroupVersion(d.ParamKind.APIVersion)
		if err != nil {
			result.invalid = fmt.Errorf("failed to parse paramKind APIVersion: %w", err)
			return result
		}
		result.ParamKind = &ParamKind{d.ParamKind, version.WithKind(d.ParamKind.Kind)}
	}

	scope := &Scope{params: d.ParamKind != nil, compile: compiler.Bare().Compile}
	path := field.NewPath("spec")
	if len(d.Variables) > 0 {
		composition := compiler.Compose()
		defer compiler.Release(composition)
		for i, v := range d.Variables {
			scope.mention(v.Expression)
			program, err := composition.Declare(v.Name, v.Expression, scope.Declarations(), environment.StoredExpressions)
			if err != nil {
				scope.Report(path.Child("variables").Index(i).Child("expression"), err)
			}
			result.Variables = append(result.Variables, expression.Variable{Name: v.Name, Program: program, Err: err})
		}
		expression.Link(result.Variables)
		scope.compile = composition.Compile
	}
	for i, c := range d.MatchConditions {
		compiled := scope.Compile(path.Child("matchConditions").Index(i).Child("expression"), c.Expression, scope.Declarations(), cel.BoolType)
		result.Conditions = append(result.Conditions, matchconditions.Condition{Compiled: compiled, Name: c.Name})
	}
	result.Body = body(scope)
	result.ReadsParams, result.broken = scope.readsParams, scope.broken
	return result
}

// Scope compiles the expressions of one policy. Not safe for concurrent use.
type Scope struct {
	params      bool
	compile     compileFunc
	readsParams bool
	broken      []error
}

type compileFunc = func(source string, in expression.Declarations, origin environment.Type, returns ...*cel.Type) (*expression.Program, *apiservercel.Error)

// Declarations returns those of an expression that may read everything.
func (s *Scope) Declarations() expression.Declarations {
	return expression.Declarations{Params: s.params, Authorizer: true}
}

// WithoutAuthorizer returns the declarations of an expression that may not ask for authorization.
func (s *Scope) WithoutAuthorizer() expression.Declarations {
	return expression.Declarations{Params: s.params}
}

// Compile compiles the expression in a field, which may read the variables of the policy.
func (s *Scope) Compile(path *field.Path, source string, in expression.Declarations, returns ...*cel.Type) expression.Compiled {
	s.mention(source)
	program, err := s.compile(source, in, environment.StoredExpressions, returns...)
	if err != nil {
		s.Report(path, err)
	}
	return expression.Compiled{Program: program, Err: err}
}

// Report says that every request which needs the field runs into the error.
func (s *Scope) Report(path *field.Path, err error) {
	s.broken = append(s.broken, fmt.Errorf("%v: %w", path, err))
}

// mention takes note of 'params'. Any mention will do: most policies without params do not
// have the word at all.
func (s *Scope) mention(source string) {
	s.readsParams = s.readsParams || s.params && strings.Contains(source, expression.Params)
}

func (p *Policy[B]) valid() bool { return p.misconfiguration() == nil && len(p.broken) == 0 }

// Errors returns what keeps the policy from deciding as written, whatever the types of
// objects, as far as the policy itself tells. Errors of a field begin with its path.
func (p *Policy[B]) Errors() []error {
	if p.invalid != nil {
		return []error{p.invalid}
	}
	return p.broken
}

// misconfiguration returns why no request can be decided, nil if they can.
func (p *Policy[B]) misconfiguration() error {
	switch {
	case p.invalid != nil || !p.enforced:
		return p.invalid
	case p.verdict == nil:
		return errUnchecked
	default:
		return p.verdict.err
	}
}
