// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/values"
)

// evaluate evaluates the first validation of a policy as for a request, without schemas. The object
// is a Go object or the content of a custom resource.
func evaluate(t *testing.T, policy *v1.ValidatingAdmissionPolicy, object any, params map[string]any) error {
	t.Helper()
	_, err := valueFor(t, policy, object, params)
	return err
}

// valueFor returns the value of the first validation.
func valueFor(t *testing.T, policy *v1.ValidatingAdmissionPolicy, object any, params map[string]any) (ref.Val, error) {
	t.Helper()
	allowAll, requester := authorizerfactory.NewAlwaysAllowAuthorizer(), &user.DefaultInfo{Name: "someone"}
	request := admission.NewAttributesRecord(nil, nil, deployment, "ns", "name", deployment.GroupVersion().WithResource("deployments"), "", admission.Create, nil, false, requester)
	variables := map[string]ref.Val{}
	activation := map[string]any{
		"object":                     valueOf(object),
		"oldObject":                  types.NullValue,
		"params":                     valueOf(params),
		"variables":                  variables,
		"authorizer":                 library.NewAuthorizerVal(requester, allowAll),
		"authorizer.requestResource": library.NewResourceAuthorizerVal(requester, allowAll, request),
	}
	env, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv().Extend(
		cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType), cel.Variable("params", cel.DynType),
		cel.Variable("variables", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("authorizer", library.AuthorizerType), cel.Variable("authorizer.requestResource", library.ResourceCheckType))
	if err != nil {
		t.Fatal(err)
	}
	run := func(source string) (ref.Val, error) {
		checked, issues := env.Compile(source)
		if issues.Err() != nil {
			t.Fatalf("does not compile: %v", issues)
		}
		program, err := env.Program(checked)
		if err != nil {
			t.Fatal(err)
		}
		value, _, err := program.Eval(activation)
		return value, err
	}
	for _, v := range policy.Spec.Variables {
		value, err := run(v.Expression)
		if err != nil {
			return nil, err
		}
		variables[v.Name] = value
	}
	return run(policy.Spec.Validations[0].Expression)
}

func valueOf(object any) ref.Val {
	if content, ok := object.(map[string]any); ok {
		return types.DefaultTypeAdapter.NativeToValue(content)
	}
	return values.Of(object)
}
