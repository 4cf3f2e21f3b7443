// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"cmp"
	"fmt"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/klog/v2"
)

// change makes a change.
func (r *application) change(i *invocation, m *mutation, made *Mutation) error {
	before := r.versioned.VersionedObject.Object()
	// Also patches that need no schema wait for it, as they do in Kubernetes.
	converter, err := r.converter()
	if err != nil {
		return err
	}
	if m.invalid != nil {
		return m.invalid
	}
	target := target{r.versioned, r.objects, converter, &r.states}
	view := r.view(i.target.Kind)
	patched, err := r.tryPatch(i, m, target)
	if err != nil {
		return cmp.Or(view.unconvertible(), err)
	}
	after := patched.object
	if after == before {
		if r.states.own == before {
			view.mutated()
			r.changed = true
			return nil
		}
		// Another plugin may have left it without defaults.
		after = before.DeepCopyObject()
	}
	if after, err = r.inForm(after); err != nil {
		return err
	}
	if err := checkIdentity(before, after); err != nil {
		return err
	}
	r.objects.GetObjectDefaulter().Default(after)
	r.versioned.UpdateObject(after)
	view.mutated()
	r.changed, r.states.own = true, after
	if r.options.Changes {
		made.compare(before, after, patched.fields)
	}
	return nil
}

// tryPatch has a panic be an error like any other: values may be such as those who merge them
// have never seen.
func (r *application) tryPatch(i *invocation, m *mutation, t target) (made patched, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("internal error: %v", cause)
			klog.FromContext(r.ctx).Error(err, "Mutation panicked", "policy", i.Name, "binding", i.binding.Name(), "stack", string(debug.Stack()))
		}
	}()
	return m.patch.patch(r.series(i), t)
}

// converter returns what knows the schema of the object.
func (r *application) converter() (managedfields.TypeConverter, error) {
	kind := r.versioned.VersionedKind
	if converter := r.engine.config.TypeConverters.GetTypeConverter(kind); converter != nil {
		return converter, nil
	}
	return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("Resource kind %s not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.", kind))
}

// inForm returns a patched object in the form that the others of its kind have.
func (r *application) inForm(patched runtime.Object) (runtime.Object, error) {
	_, loose := patched.(*unstructured.Unstructured)
	_, custom := r.versioned.VersionedObject.Object().(*unstructured.Unstructured)
	if !loose || custom {
		return patched, nil
	}
	return r.objects.GetObjectConvertor().ConvertToVersion(patched, r.versioned.VersionedKind.GroupVersion())
}

// writeBack gives the request what the policies made of its object.
func (r *application) writeBack() error {
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
