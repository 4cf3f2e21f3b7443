// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"

	"celador.io/admission/expression"
	"celador.io/admission/policy"
)

// body is what is particular to a mutating policy. Immutable.
type body struct {
	mutations []mutation
}

// mutation is one change that a policy makes.
type mutation struct {
	// patch computes the mutated object. It is not called if invalid is set.
	patch patcher
	// invalid is set if the mutation fails for every object, because its expression does not
	// compile or its patch type is unknown.
	invalid error
	// condition is absent unless the mutation has one of its own.
	condition expression.Compiled
	// message is what the client reads in place of the reason that the engine sees. Empty if
	// there is none.
	message string
	// reason is empty unless the mutation states one.
	reason metav1.StatusReason
	// again is set when the mutation may be made a second time in the same request.
	again bool
}

var (
	patchType  = cel.ObjectType(celmutation.JSONPatchTypeName)
	objectType = cel.ObjectType(celmutation.ObjectTypeName)
)

// Errors returns what keeps a policy from deciding as written, whatever the types of
// objects. Errors of a field begin with its path. Programs are those that stores with
// the same compiler use.
func Errors(compiler *expression.Compiler, features Features, p *v1.MutatingAdmissionPolicy) []error {
	return compile(compiler, features, p).Errors()
}

// compile refers to p, which must not change any more.
func compile(compiler *expression.Compiler, features Features, p *v1.MutatingAdmissionPolicy) *policy.Policy[body] {
	spec := &p.Spec
	definition := policy.Definition{
		Object:           p,
		FailurePolicy:    spec.FailurePolicy,
		ParamKind:        spec.ParamKind,
		MatchConstraints: spec.MatchConstraints,
		MatchConditions:  spec.MatchConditions,
		Variables:        spec.Variables,
		Enforced:         features.TypeEnforcement && spec.TypeChecking != nil && *spec.TypeChecking == v1.EnforcedTypeChecking,
	}
	return policy.Compile(compiler, definition, func(scope *policy.Scope) body {
		var b body
		for i := range spec.Mutations {
			m, path := &spec.Mutations[i], field.NewPath("spec", "mutations").Index(i)
			compiled := mutation{again: spec.ReinvocationPolicy == v1.IfNeededReinvocationPolicy}
			compiled.patch, compiled.invalid = compilePatch(scope, features, path, m)
			if features.InlineExpressions {
				compiled.addOptions(scope, path, m)
			}
			b.mutations = append(b.mutations, compiled)
		}
		return b
	})
}

func (c *mutation) addOptions(scope *policy.Scope, path *field.Path, m *v1.Mutation) {
	if m.Condition != nil {
		c.condition = scope.Compile(path.Child("condition"), *m.Condition, scope.Declarations(), cel.BoolType)
	}
	if m.Message != nil {
		c.message = *m.Message
	}
	if m.Reason != nil {
		c.reason = *m.Reason
	}
	if m.ReinvocationPolicy != nil {
		c.again = *m.ReinvocationPolicy == v1.IfNeededReinvocationPolicy
	}
}

// compilePatch returns the patcher of a mutation, or an error if its expression does not
// compile or its patch type is unknown.
func compilePatch(scope *policy.Scope, features Features, path *field.Path, m *v1.Mutation) (made patcher, invalid error) {
	in := scope.Declarations()
	in.Patches = true
	compile := func(path *field.Path, source string, returns ...*cel.Type) expression.Compiled {
		compiled := scope.Compile(path, source, in, returns...)
		if compiled.Err != nil {
			invalid = compiled.Err
		}
		return compiled
	}
	named := func(patchType string) *field.Path { return path.Child(patchType, "expression") }
	switch {
	case features.InlineExpressions && m.Expression != nil:
		made = inlinePatcher{compile(path.Child("expression"), *m.Expression, patchType, cel.ListType(patchType), cel.NullType, cel.BoolType)}
	case m.PatchType == v1.PatchTypeJSONPatch && m.JSONPatch != nil:
		made = jsonPatcher{compile(named("jsonPatch"), m.JSONPatch.Expression, cel.ListType(patchType))}
	case m.PatchType == v1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
		made = configurationPatcher{compile(named("applyConfiguration"), m.ApplyConfiguration.Expression, objectType)}
	case features.InlineExpressions && m.PatchType == v1.PatchTypeJSONMergePatch && m.JSONMergePatch != nil:
		made = mergePatcher{compile(named("jsonMergePatch"), m.JSONMergePatch.Expression, cel.AnyType), mergeJSON}
	case features.InlineExpressions && m.PatchType == v1.PatchTypeStrategicMergePatch && m.StrategicMergePatch != nil:
		made = mergePatcher{compile(named("strategicMergePatch"), m.StrategicMergePatch.Expression, cel.AnyType), mergeStrategically}
	default:
		invalid = fmt.Errorf("mutation has no expression for patchType %q, or feature gate MutatingAdmissionPolicyInlineExpressions is off", m.PatchType)
		scope.Report(path, invalid)
	}
	return made, invalid
}
