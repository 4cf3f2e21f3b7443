// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"celador.io/admission/panics"
)

// applyPatch patches the request's object, checks and defaults the result, and makes it the current
// object. If Options.Changes is set, it also sets Changed and Fields of the record.
func (r *applier) applyPatch(i *invocation, m *mutation, record *Mutation) error {
	before := r.versioned.VersionedObject.Object()
	// As in Kubernetes, a JSON patch fails while the schema of the kind is unknown, although it
	// does not use the schema.
	converter, err := r.converter()
	if err != nil {
		return err
	}
	if m.invalid != nil {
		return m.invalid
	}
	original := patchable{r.versioned, r.objects, converter, &r.engine.shapes, &r.cache}
	values := r.valuesOf(i.target.Kind)
	patched, err := r.computePatch(i, m, original)
	if err != nil {
		return cmp.Or(values.unconvertible(), err)
	}
	after := patched.object
	if after == before {
		if r.cache.own == before {
			values.mutated()
			r.changed = true
			return nil
		}
		// Another plugin may have produced the object and not set its defaults. Defaulting changes
		// the object in place, so it needs a copy.
		after = before.DeepCopyObject()
	}
	if after, err = r.toKindType(after); err != nil {
		return err
	}
	if err := r.checkIdentity(before, after); err != nil {
		return err
	}
	if !sameManagedFields(before, after) {
		return errors.New("may not change metadata.managedFields")
	}
	r.objects.GetObjectDefaulter().Default(after)
	r.versioned.UpdateObject(after)
	values.mutated()
	r.changed, r.cache.own = true, after
	if r.options.Changes {
		record.compare(before, after, patched.fields)
	}
	return nil
}

// computePatch computes the patched object and turns a panic into an error. structured-merge-diff
// panics on CEL values that it does not know, such as format objects.
func (r *applier) computePatch(i *invocation, m *mutation, t patchable) (_ patched, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("internal error: %v", cause)
			panics.Record(panics.Patch, cause, "policy", i.Name, "binding", i.binding.Name())
		}
	}()
	return m.patch.patch(r.series(i), t)
}

// converter returns the type converter of the object's kind. It returns a ServiceUnavailable error
// while the schema is unknown.
func (r *applier) converter() (managedfields.TypeConverter, error) {
	kind := r.versioned.VersionedKind
	if converter := r.engine.typeConverters.GetTypeConverter(kind); converter != nil {
		return converter, nil
	}
	return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("Resource kind %s not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.", kind))
}

// toKindType returns a patched object of a built-in kind in the Go type of the kind, with
// apiVersion and kind set. structured-merge-diff returns unstructured objects. A JSON patch may
// remove or replace the kind, while the Go type stays the same.
func (r *applier) toKindType(patched runtime.Object) (runtime.Object, error) {
	before := r.versioned.VersionedObject.Object()
	switch _, custom := before.(*unstructured.Unstructured); {
	case custom:
		return patched, nil
	case reflect.TypeOf(patched) != reflect.TypeOf(before):
		return r.objects.GetObjectConvertor().ConvertToVersion(patched, r.versioned.VersionedKind.GroupVersion())
	default:
		patched.GetObjectKind().SetGroupVersionKind(before.GetObjectKind().GroupVersionKind())
		return patched, nil
	}
}

// writeBack converts the mutated object to the version of the request and overwrites the request's
// object with it. It asks the API server to run mutating admission again.
func (r *applier) writeBack() error {
	if !r.changed {
		return nil
	}
	r.state.Changed()
	r.request.GetReinvocationContext().SetShouldReinvoke()
	object := r.versioned.VersionedObject.Object()
	if err := r.objects.GetObjectConvertor().Convert(object, r.request.GetObject(), nil); err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to convert object: %w", err))
	}
	return nil
}
