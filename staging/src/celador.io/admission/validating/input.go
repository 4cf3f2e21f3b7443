// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/matching"
	"celador.io/admission/values"
)

// input holds the values that expressions read, for one request in the form that one
// target asks for. All policies with that target share it. Values cache what was read,
// and some are only made then, so an input is not safe for concurrent use.
type input struct {
	request *matching.Request
	target  matching.Target
	// authz is nil if 'authorizer' is not in scope.
	authz *cachingAuthorizer

	object, oldObject ref.Val
	// The rest is nil until it is first read, as most never is.
	requested, conditionally    ref.Val
	authorizer, requestResource ref.Val
}

// newInput converts the objects of the request to the target's kind.
func newInput(r *matching.Request, target matching.Target, objects admission.ObjectInterfaces, authz *cachingAuthorizer) (*input, error) {
	object, err := convert(r.GetObject(), target, objects)
	if err != nil {
		return nil, err
	}
	oldObject, err := convert(r.GetOldObject(), target, objects)
	if err != nil {
		return nil, err
	}
	return &input{request: r, target: target, authz: authz, object: object, oldObject: oldObject}, nil
}

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

func (in *input) requestValue() ref.Val {
	if in.requested == nil {
		in.requested = in.admissionRequest(in.target.Resource)
	}
	return in.requested
}

// conditionRequestValue is the request as match conditions read it: in the target's kind,
// but with the resource that the client asked for.
func (in *input) conditionRequestValue() ref.Val {
	if in.conditionally == nil {
		if in.target.Resource == in.request.GetResource() {
			in.conditionally = in.requestValue()
		} else {
			in.conditionally = in.admissionRequest(in.request.GetResource())
		}
	}
	return in.conditionally
}

func (in *input) admissionRequest(resource schema.GroupVersionResource) ref.Val {
	return values.Of(plugincel.CreateAdmissionRequest(in.request.Attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(in.target.Kind)))
}

func (in *input) authorizerValue() ref.Val {
	if in.authorizer == nil {
		in.authorizer = library.NewAuthorizerVal(in.request.GetUserInfo(), in.authz.get())
	}
	return in.authorizer
}

func (in *input) requestResourceValue() ref.Val {
	if in.requestResource == nil {
		in.requestResource = library.NewResourceAuthorizerVal(in.request.GetUserInfo(), in.authz.get(), in.request)
	}
	return in.requestResource
}

// namespace is the namespace of the request, if it is in one.
type namespace struct {
	object *corev1.Namespace
	// made is nil until the value is first read.
	made ref.Val
}

// value exposes only the declared fields of a namespace.
func (n *namespace) value() ref.Val {
	if n.made == nil {
		n.made = values.Of(plugincel.CreateNamespaceObject(n.object))
	}
	return n.made
}

func paramsValue(param *unstructured.Unstructured) ref.Val {
	return types.DefaultTypeAdapter.NativeToValue(param.Object)
}
