// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"celador.io/admission/validating"
)

// A Located is an object with its place in a cluster. It is immutable.
type Located struct {
	// Resource is the resource that serves objects of the type.
	Resource schema.GroupResource
	// Namespace is the namespace of the object. It is empty if the resource is not namespaced.
	Namespace string

	object   *unstructured.Unstructured
	resource *resource
}

// Locate returns an object with its place in the cluster. The result refers to the object. Locate
// returns an error if the cluster does not serve the object's type.
func (c *Cluster) Locate(object *unstructured.Unstructured) (*Located, error) {
	r, err := c.resourceOf(object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	return &Located{r.GroupResource(), namespaceOf(r, object), object, r}, nil
}

// Evaluate returns the decisions of the validating policies about an object, as if the user created
// it. They include satisfied validations, and are in the order of policy name, binding name and
// validation. Unlike Admit, Evaluate invokes neither mutating policies nor the API's own
// validation, and policies see the status of the object. It sets defaults, and the fields of
// metadata that a server sets, if they are missing. object must come from Locate of the same
// cluster. Evaluate returns an error if the object has fields that its type does not have. It does
// not change the object.
func (c *Cluster) Evaluate(ctx context.Context, object *Located, user user.Info) ([]validating.Decision, error) {
	if c.policies.exemption(object.Resource) != "" {
		return nil, nil
	}
	r := object.resource
	data, err := json.Marshal(object.object.Object)
	if err != nil {
		return nil, err
	}
	decoded, err := r.decode(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	m, err := meta.Accessor(decoded)
	if err != nil {
		return nil, err
	}
	m.SetNamespace(object.Namespace)
	if m.GetName() == "" && m.GetGenerateName() != "" {
		m.SetName(m.GetGenerateName() + "xxxxx")
	}
	setSystemFields(m)
	a := admission.NewAttributesRecord(decoded, nil, r.kind, m.GetNamespace(), m.GetName(), r.GroupVersionResource, "",
		admission.Create, &metav1.CreateOptions{}, false, user)
	result, err := c.policies.validating.Evaluate(withLayer(ctx, c.objects), a, r.interfaces(), c.policies.validation)
	if err != nil {
		return nil, err
	}
	defer result.Free()
	return result.Decisions(), nil
}
