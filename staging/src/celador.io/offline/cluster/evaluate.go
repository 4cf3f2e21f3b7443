// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"celador.io/admission/policyspec"
	"celador.io/admission/validating"
)

// Evaluate returns the decisions of the validating policies about an object that a server has stored, as if the user
// created it: satisfied validations included, in the order of policy name, binding name and validation. Unlike Admit, it
// neither invokes mutating policies nor the API's own validation, and policies see the object with its status and system fields. It returns an error if
// the cluster does not serve the object's type, or the object has fields that the type does not have. The caller keeps
// ownership of the object.
func (c *Cluster) Evaluate(ctx context.Context, object *unstructured.Unstructured, user user.Info) ([]validating.Decision, error) {
	r, err := c.resourceOf(object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if policyspec.IsExempt(r.GroupResource()) {
		return nil, nil
	}
	data, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	decoded, err := r.decode(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	a := admission.NewAttributesRecord(decoded, nil, r.kind, namespaceOf(r, object), object.GetName(), r.GroupVersionResource, "",
		admission.Create, &metav1.CreateOptions{}, false, user)
	result, err := c.policies.validating.Evaluate(withLayer(ctx, c.objects), a, r.interfaces(), c.policies.validation)
	if err != nil {
		return nil, err
	}
	defer result.Free()
	return result.Decisions(), nil
}
