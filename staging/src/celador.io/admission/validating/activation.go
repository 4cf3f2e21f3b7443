// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/expression"
	"celador.io/admission/matching"
	"celador.io/admission/values"
)

// input holds the values that expressions read, for one request in the form that one
// target asks for. Values are shared by all policies with that target; they cache
// what was read, so an input is not safe for concurrent use.
type input struct {
	object, oldObject           ref.Val
	request                     *deferred
	authorizer, requestResource *deferred
	// conditionRequest is the request as match conditions read it: in the target's
	// kind, but with the resource that the client asked for.
	conditionRequest *deferred
}

// deferred is a value that is made when it is first read, as many never are.
type deferred struct {
	make  func() ref.Val
	value ref.Val
}

func (d *deferred) get() ref.Val {
	if d.value == nil {
		d.value = d.make()
	}
	return d.value
}

// newInput converts the objects of the request to the target's kind. Without authz,
// 'authorizer' is not in scope.
func newInput(r *matching.Request, target matching.Target, objects admission.ObjectInterfaces, authz *cachingAuthorizer) (*input, error) {
	object, err := convert(r.GetObject(), target, objects)
	if err != nil {
		return nil, err
	}
	oldObject, err := convert(r.GetOldObject(), target, objects)
	if err != nil {
		return nil, err
	}
	in := &input{object: object, oldObject: oldObject, request: requestValue(r, target.Resource, target.Kind)}
	in.conditionRequest = in.request
	if target.Resource != r.GetResource() {
		in.conditionRequest = requestValue(r, r.GetResource(), target.Kind)
	}
	if authz != nil {
		in.authorizer = &deferred{make: func() ref.Val { return library.NewAuthorizerVal(r.GetUserInfo(), authz.get()) }}
		in.requestResource = &deferred{make: func() ref.Val { return library.NewResourceAuthorizerVal(r.GetUserInfo(), authz.get(), r) }}
	}
	return in, nil
}

func requestValue(r *matching.Request, resource schema.GroupVersionResource, kind schema.GroupVersionKind) *deferred {
	return &deferred{make: func() ref.Val {
		return values.Of(plugincel.CreateAdmissionRequest(r.Attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(kind)))
	}}
}

// subject is what the expressions of one policy are evaluated on.
type subject struct {
	*input
	namespace *deferred
	params    ref.Val
}

// forConditions returns the subject of match conditions. They do not see the namespace.
func (s subject) forConditions() subject {
	in := *s.input
	in.request = in.conditionRequest
	return subject{&in, null, s.params}
}

var null = &deferred{value: types.NullValue}

func convert(object runtime.Object, target matching.Target, objects admission.ObjectInterfaces) (ref.Val, error) {
	if object == nil {
		return types.NullValue, nil
	}
	versioned, err := admission.ConvertToGVK(object, target.Kind, objects)
	if err != nil {
		return nil, err
	}
	if u, ok := versioned.(*unstructured.Unstructured); ok {
		return types.DefaultTypeAdapter.NativeToValue(u.Object), nil
	}
	return values.Of(versioned), nil
}

// namespaceValue exposes only the declared fields of a namespace.
func namespaceValue(namespace *corev1.Namespace) *deferred {
	return &deferred{make: func() ref.Val { return values.Of(plugincel.CreateNamespaceObject(namespace)) }}
}

// paramsValue is null without params.
func paramsValue(param *unstructured.Unstructured) ref.Val {
	if param == nil {
		return types.NullValue
	}
	return types.DefaultTypeAdapter.NativeToValue(param.Object)
}

// activation resolves names for one series of evaluations.
type activation struct {
	subject
	// withAuthorizer puts 'authorizer' in scope.
	withAuthorizer bool
}

func (p *policy) newSeries(ctx context.Context, s subject, withAuthorizer bool, budget *expression.Budget) *expression.Series {
	return expression.NewSeries(ctx, &activation{s, withAuthorizer}, p.variables, budget)
}

// ResolveName implements interpreter.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case expression.Object:
		return a.object, true
	case expression.OldObject:
		return a.oldObject, true
	case expression.Request:
		return a.request.get(), true
	case expression.NamespaceObject:
		return a.namespace.get(), true
	case expression.Params:
		return a.params, true
	case expression.Authorizer:
		return a.authorization(a.authorizer)
	case expression.RequestResource:
		return a.authorization(a.requestResource)
	default:
		return nil, false
	}
}

func (a *activation) authorization(value *deferred) (any, bool) {
	if !a.withAuthorizer || value == nil {
		return nil, false
	}
	return value.get(), true
}

// Parent implements interpreter.Activation. There is none.
func (a *activation) Parent() interpreter.Activation { return nil }
