// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// chain counts its calls and handles deletion only.
type chain struct{ admits, validates int }

func (*chain) Handles(operation admission.Operation) bool { return operation == admission.Delete }

func (c *chain) Admit(context.Context, admission.Attributes, admission.ObjectInterfaces) error {
	c.admits++
	return nil
}

func (c *chain) Validate(context.Context, admission.Attributes, admission.ObjectInterfaces) error {
	c.validates++
	return nil
}

func TestNoCreation(t *testing.T) {
	next := &chain{}
	w := admission.NewChainHandler(noCreation{}, next)
	for operation, want := range map[admission.Operation]bool{admission.Create: true, admission.Update: false, admission.Delete: true} {
		if got := w.Handles(operation); got != want {
			t.Errorf("handles %s: %t, want %t", operation, got, want)
		}
	}
	attributes := func(operation admission.Operation) admission.Attributes {
		gvr := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
		return admission.NewAttributesRecord(nil, nil, schema.GroupVersionKind{}, "ns", "w", gvr, "", operation, nil, false, nil)
	}
	const want = `widgets.example.com "w" is forbidden: create not allowed while custom resource definition is terminating`
	for name, call := range map[string]func(context.Context, admission.Attributes, admission.ObjectInterfaces) error{"Admit": w.Admit, "Validate": w.Validate} {
		if err := call(t.Context(), attributes(admission.Create), nil); !apierrors.IsForbidden(err) || err.Error() != want {
			t.Errorf("%s of a creation: got error %v", name, err)
		}
		if err := call(t.Context(), attributes(admission.Delete), nil); err != nil {
			t.Errorf("%s of a deletion: %v", name, err)
		}
	}
	if next.admits != 1 || next.validates != 1 {
		t.Errorf("the chain was called %d and %d times, want once each for the deletion", next.admits, next.validates)
	}
}
