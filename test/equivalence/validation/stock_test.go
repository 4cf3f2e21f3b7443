// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"context"
	"errors"

	upstreamv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstream "k8s.io/kubernetes/pkg/apis/admissionregistration"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	mutatingpolicyregistry "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	mutatingbindingregistry "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	policyregistry "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	bindingregistry "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
)

// The stock validators run the strategies of kube-apiserver and its declarative validation on its
// internal types.

func stockPolicy(manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	decode := decode[upstreamv1.ValidatingAdmissionPolicy, upstream.ValidatingAdmissionPolicy]
	return stockErrors(policyregistry.NewStrategy(nil, nil), decode, "", manifest, old, defaults)
}

func stockStatus(manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	decode := decode[upstreamv1.ValidatingAdmissionPolicy, upstream.ValidatingAdmissionPolicy]
	strategy := policyregistry.NewStatusStrategy(policyregistry.NewStrategy(nil, nil))
	return stockErrors(strategy, decode, "status", manifest, old, defaults)
}

func stockBinding(manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	decode := decode[upstreamv1.ValidatingAdmissionPolicyBinding, upstream.ValidatingAdmissionPolicyBinding]
	return stockErrors(bindingregistry.NewStrategy(nil, nil, noResources{}), decode, "", manifest, old, defaults)
}

func stockMutatingPolicy(manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	decode := decode[upstreamv1.MutatingAdmissionPolicy, upstream.MutatingAdmissionPolicy]
	return stockErrors(mutatingpolicyregistry.NewStrategy(nil, nil), decode, "", manifest, old, defaults)
}

func stockMutatingBinding(manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	decode := decode[upstreamv1.MutatingAdmissionPolicyBinding, upstream.MutatingAdmissionPolicyBinding]
	return stockErrors(mutatingbindingregistry.NewStrategy(nil, nil, noResources{}), decode, "", manifest, old, defaults)
}

type stockStrategy interface {
	rest.RESTCreateUpdateStrategy
	rest.DeclarativeValidationStrategy
}

type decoder[Internal any] func(*runtime.Scheme, []byte, defaulting) (*Internal, error)

// stockErrors returns the errors of a create, or of an update if old is not nil.
func stockErrors[Internal any](strategy stockStrategy, decode decoder[Internal], subresource string, manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	ctx := request.WithRequestInfo(context.Background(), &request.RequestInfo{
		APIGroup:    upstream.GroupName,
		APIVersion:  "v1",
		Subresource: subresource,
	})
	object, err := decode(legacyscheme.Scheme, manifest, defaults)
	if err != nil {
		return nil, err
	}
	obj := any(object).(runtime.Object)
	if old == nil {
		errs := strategy.Validate(ctx, obj)
		return strategy.ValidateDeclaratively(ctx, obj, nil, errs, operation.Create, strategy.DeclarativeValidationConfig(ctx, obj, nil)), nil
	}
	oldObject, err := decode(legacyscheme.Scheme, old, defaults)
	if err != nil {
		return nil, err
	}
	oldObj := any(oldObject).(runtime.Object)
	errs := strategy.ValidateUpdate(ctx, obj, oldObj)
	return strategy.ValidateDeclaratively(ctx, obj, oldObj, errs, operation.Update, strategy.DeclarativeValidationConfig(ctx, obj, oldObj)), nil
}

// noResources resolves no kind. Strategies without an authorizer do not call it.
type noResources struct{}

func (noResources) Resolve(schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	return schema.GroupVersionResource{}, errors.New("no resources are served")
}
