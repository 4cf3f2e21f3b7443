// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/expression"
)

// patcher computes the patch of a mutation and applies it. Immutable.
type patcher interface {
	// patch returns the patched object, which is the target's own object if there is nothing to
	// change. It does not change the target. A *apierrors.StatusError ends the request, and
	// errRefused refuses it. The failurePolicy decides about other errors.
	patch(*expression.Series, target) (patched, error)
}

// newPatcher returns the patcher of a patch type. The empty patch type is that of
// spec.mutations[].expression.
func newPatcher(patchType v1.PatchType, compiled expression.Compiled) patcher {
	switch patchType {
	case "":
		return inlinePatcher{compiled}
	case v1.PatchTypeJSONPatch:
		return jsonPatcher{compiled}
	case v1.PatchTypeApplyConfiguration:
		return configurationPatcher{compiled}
	case v1.PatchTypeJSONMergePatch:
		return mergePatcher{compiled, mergeJSON}
	case v1.PatchTypeStrategicMergePatch:
		return mergePatcher{compiled, mergeStrategically}
	default:
		return nil
	}
}

// patched is an object with what a patch has set in it.
type patched struct {
	object runtime.Object
	// fields returns the paths that the patch names. Nil for none.
	fields func() []string
}

// target is an object that is to be changed.
type target struct {
	*admission.VersionedAttributes
	objects   admission.ObjectInterfaces
	converter managedfields.TypeConverter
	*states
}

// states are what is known of the object of a request, to save work.
type states struct {
	// own is the object as the last mutation made it: it has its defaults, and nothing of it is
	// anyone else's.
	own runtime.Object
	// valid is the object that is known to fit its schema.
	valid runtime.Object
	// size is an upper estimate of the JSON size of the object as mutations have changed it.
	size int
}

func (t target) object() runtime.Object { return t.VersionedObject.Object() }

// evaluate evaluates the expression of a patch. The expression must have compiled; mutations
// with other expressions are invalid and never patch.
func evaluate(c expression.Compiled, series *expression.Series) (ref.Val, error) {
	return c.Program.Evaluate(series)
}
