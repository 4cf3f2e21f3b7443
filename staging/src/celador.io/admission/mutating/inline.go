// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"

	"celador.io/admission/cel/expression"
)

// errRefused is the error of an expression that refuses the request.
var errRefused = errors.New("expression evaluated to false")

// inlinePatcher evaluates spec.mutations[].expression (KEP-3962, "Return Values for Mutating
// Expressions"). A list of JSON patch operations is applied. false refuses the request. null and
// true leave the object unchanged.
type inlinePatcher struct{ *expression.Program }

func (p inlinePatcher) patch(series *expression.Series, t patchable) (patched, error) {
	value, err := p.Evaluate(series)
	if err != nil {
		return patched{}, err
	}
	var operations jsonpatch.Patch
	switch v := value.(type) {
	case types.Null:
	case types.Bool:
		if !v {
			return patched{}, errRefused
		}
	case *celmutation.JSONPatchVal:
		operation, err := operationOf(v)
		if err != nil {
			return patched{}, err
		}
		operations = jsonpatch.Patch{operation}
	case traits.Lister:
		if operations, err = operationsOf(v); err != nil {
			return patched{}, err
		}
	default:
		return patched{}, fmt.Errorf("type mismatch: mutation expression should evaluate to JSONPatch, a list of them, null or bool, got %T", value)
	}
	if len(operations) == 0 {
		return patched{object: t.object()}, nil
	}
	return applyJSONPatch(operations, t)
}
