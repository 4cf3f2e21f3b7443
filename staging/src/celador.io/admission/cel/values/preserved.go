// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/equality"
)

// A preserved value has a schema with x-kubernetes-preserve-unknown-fields and without a type.
// Expressions cannot read it, but compare objects that contain it.
type preserved struct{ content any }

// Equal implements ref.Val.
func (p *preserved) Equal(other ref.Val) ref.Val {
	return types.Bool(equality.Semantic.DeepEqual(p.content, other.Value()))
}

// Type implements ref.Val.
func (*preserved) Type() ref.Type { return types.UnknownType }

// Value implements ref.Val.
func (p *preserved) Value() any { return p.content }

// ConvertToType implements ref.Val.
func (*preserved) ConvertToType(to ref.Type) ref.Val {
	return types.NewErr(preservedConversion, to.TypeName())
}

// ConvertToNative implements ref.Val.
func (*preserved) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf(preservedConversion, to)
}

const preservedConversion = "type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields"
