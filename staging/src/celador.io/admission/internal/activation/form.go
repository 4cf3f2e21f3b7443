// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/cel/values"
)

// A Form is the Go representation from which CEL values of built-in kinds are created. Kubernetes
// uses both forms. Expressions evaluate differently on them, for instance when they compare
// quantities.
type Form int

const (
	// Typed is the form of k8s.io/apiserver/pkg/cel/common.SchemalessTypedToVal.
	Typed Form = iota
	// Unstructured is the form of an object that was converted to maps and lists.
	Unstructured
)

// ObjectValue returns the CEL value of an object in the given form. Custom resources are
// unstructured in both forms. The value is not safe for concurrent use.
//
// ObjectValue returns nil for nil. Expressions read nil as null, but when they use it as an
// index, the text of cel-go's error names the Go type of the index, which differs between nil
// and types.NullValue.
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
