// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/values"
)

// Form is the form in which expressions read objects of built-in kinds. Kubernetes uses
// both, and expressions can tell them apart, for instance by comparing quantities.
type Form int

const (
	// Typed is the form of k8s.io/apiserver/pkg/cel/common.SchemalessTypedToVal.
	Typed Form = iota
	// Unstructured is the form of an object that was converted to maps and lists.
	Unstructured
)

// ObjectValue returns the value of an object in a form. Custom resources are unstructured in
// both forms.
//
// For nil it returns nil. Expressions read that as null too, but cel-go's error for a null that
// is an index differs: its text has the Go type of the index.
func ObjectValue(object runtime.Object, form Form) ref.Val {
	if object == nil {
		return nil
	}
	if custom, ok := object.(*unstructured.Unstructured); ok {
		return types.DefaultTypeAdapter.NativeToValue(custom.Object)
	}
	if form == Unstructured {
		return values.OfUnstructured(object)
	}
	return values.Of(object)
}
