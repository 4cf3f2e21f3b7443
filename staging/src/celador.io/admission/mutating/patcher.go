// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/structuredmerge"
)

// patcher computes the patch of a mutation and applies it. Immutable.
type patcher interface {
	// patch returns the patched object. It never changes the original, and returns it itself if the
	// patch changes nothing. Three kinds of errors reject the request whatever the failurePolicy
	// is: API errors (*apierrors.StatusError), errRefused, and changes of the object's identity for
	// which Kubernetes rejects the request (identityError.rejected). failurePolicy Ignore ignores
	// all others.
	patch(*expression.Series, patchable) (patched, error)
}

// newPatcher returns the patcher of a patch type, or nil if the type is unknown. Mutations with
// spec.mutations[].expression have an empty patch type. program is nil for an expression that does
// not compile; the patcher must then not be used.
func newPatcher(patchType v1.PatchType, program *expression.Program) patcher {
	switch patchType {
	case "":
		return inlinePatcher{program}
	case v1.PatchTypeJSONPatch:
		return jsonPatcher{program}
	case v1.PatchTypeApplyConfiguration:
		return configurationPatcher{program}
	case v1.PatchTypeJSONMergePatch:
		return mergePatcher{program, mergeJSON}
	case v1.PatchTypeStrategicMergePatch:
		return mergePatcher{program, mergeStrategically}
	default:
		return nil
	}
}

// patched is a patched object.
type patched struct {
	object runtime.Object
	// fields returns the JSON pointers of the fields that the patch names. It is nil if the patch
	// changes nothing.
	fields func() []string
}

// patchable is the object that a mutation patches.
type patchable struct {
	*admission.VersionedAttributes
	objects   admission.ObjectInterfaces
	converter managedfields.TypeConverter
	shapes    *structuredmerge.Shapes
	*objectCache
}

// objectCache holds what is known of the current object of a request, so that it is not computed
// for each mutation.
type objectCache struct {
	// own is the current object if a mutation of this request produced it: it has its defaults, and
	// shares nothing with the request, params or caches, so that defaulting may change it in place.
	// Otherwise mutations copy the current object first.
	own runtime.Object
	// valid is the last object that was found to fit the schema of the converter validFor. shape
	// describes how structuredmerge merges configurations into valid, and is nil if it does not
	// support the object.
	valid    runtime.Object
	validFor managedfields.TypeConverter
	shape    *structuredmerge.Shape
	// size is an upper bound of the object's size in JSON, by which grow limits it without encoding
	// the object for each mutation: the size when it was last encoded, plus the sizes of the apply
	// configurations since then.
	size int
}

func (t patchable) object() runtime.Object { return t.VersionedObject.Object() }
