// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// An applyConverter converts the objects of one server-side apply.
//
// Apply merges the live object with the request. To find the fields that a manager has given up, it
// converts the merged object to the version of the manager's last request, removes fields from it,
// and converts the rest back. Such a part may lack values that rules read, so a rule that fails
// leaves its field unset. The merged object itself is stored: its rules must not fail, or a field
// would be missing.
//
// The order of conversions tells which object is which. Field managers first copy the live object,
// by converting it to the version that it has. The next object that they convert is the merged one.
// All others are parts, or are only compared.
//
// The merged object is converted to each version once, and the result is kept. Conversion back and
// forth may move a value, such as that of a deprecated field, to a field that its owner has not
// applied, and apply would remove it.
//
// An applyConverter is not safe for concurrent use.
type applyConverter struct {
	*rulesConverter
	defaulter runtime.ObjectDefaulter
	// live holds the live object and its copies. whole holds the merged object, its copies and its
	// conversions. An object in neither is a part of the merged object, or is only compared with
	// another object.
	live, whole contents
	// merged is the merged object by version.
	merged map[schema.GroupVersion]*unstructured.Unstructured
	// started is set when the first object after the live one is converted, which is the merged
	// one.
	started bool
	// refusal is the last error of a conversion that the request must fail with. Nil if there was
	// none.
	refusal *conversion.Error
}

// contents is a set of objects, to recognize an object that is converted again. Its keys are the
// addresses of their outermost maps. The values keep the maps in memory, so that no other map gets
// the address of one.
type contents map[uintptr]map[string]any

func (c contents) has(object *unstructured.Unstructured) bool { return c[address(object)] != nil }

func (c contents) add(object *unstructured.Unstructured) { c[address(object)] = object.Object }

func address(object *unstructured.Unstructured) uintptr {
	return reflect.ValueOf(object.Object).Pointer()
}

// reset forgets the objects of an earlier attempt, because the storage may call UpdatedObject
// several times for one request.
func (c *applyConverter) reset() {
	*c = applyConverter{rulesConverter: c.rulesConverter, defaulter: c.defaulter, live: contents{}, whole: contents{}, merged: map[schema.GroupVersion]*unstructured.Unstructured{}}
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (c *applyConverter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	object, ok := in.(*unstructured.Unstructured)
	if !ok {
		return c.rulesConverter.ConvertToVersion(in, target)
	}
	from := object.GroupVersionKind()
	to, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{from})
	if !ok || hasOnlyType(object) || !c.versions[from.GroupVersion()] || !c.versions[to.GroupVersion()] {
		return c.rulesConverter.ConvertToVersion(in, target)
	}
	if from.GroupVersion() == to.GroupVersion() {
		return c.copied(object), nil
	}
	whole := c.isWhole(object)
	if whole && c.merged[to.GroupVersion()] != nil {
		return c.mergedIn(to.GroupVersion()), nil
	}
	out, err := c.converted(object, to.Version, whole)
	if err != nil {
		c.refusal = asConversionError(object, to.Version, err)
		return nil, c.refusal
	}
	if whole {
		c.merged[to.GroupVersion()] = out
		return c.mergedIn(to.GroupVersion()), nil
	}
	return out, nil
}

// converted converts a copy of an object. Rules may read defaults, which objects have when they are
// read from the storage, but not when field managers convert them. So if a rule fails, converted
// sets the defaults and tries again. In a part, only the rules that have failed read the defaults,
// and the result does not contain them: the manager may have given up these fields.
func (c *applyConverter) converted(object *unstructured.Unstructured, to string, whole bool) (*unstructured.Unstructured, error) {
	if !whole {
		object = object.DeepCopy()
		emptyRemoved(object.Object, c.schemas.Structural(object.GroupVersionKind().Version))
	}
	ctx := context.Background()
	out, err := c.coerced(c.uncoerced.Convert(ctx, object.DeepCopy(), to))
	if err == nil {
		return out, nil
	}
	defaulted := object.DeepCopy()
	c.defaulter.Default(defaulted)
	if !whole {
		return c.coerced(c.uncoerced.ConvertPartial(ctx, object.DeepCopy(), defaulted, to))
	}
	if out, err := c.coerced(c.uncoerced.Convert(ctx, defaulted, to)); err == nil {
		return out, nil
	}
	return nil, err
}

// isWhole reports whether an object is the merged one, a copy of it, or a conversion of it to
// another version. It takes the first object that is not the live one for the merged one.
func (c *applyConverter) isWhole(object *unstructured.Unstructured) bool {
	if c.live.has(object) {
		return false
	}
	if !c.started {
		c.started = true
		c.whole.add(object)
		c.merged[object.GroupVersionKind().GroupVersion()] = object.DeepCopy()
	}
	return c.whole.has(object)
}

// mergedIn returns a copy of the merged object in a version that it has been converted to.
func (c *applyConverter) mergedIn(version schema.GroupVersion) *unstructured.Unstructured {
	out := c.merged[version].DeepCopy()
	c.whole.add(out)
	return out
}

// copied returns a copy of an object in the version that it has.
func (c *applyConverter) copied(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := object.DeepCopy()
	switch {
	case len(c.live) == 0 || c.live.has(object):
		c.live.add(object)
		c.live.add(out)
	case c.isWhole(object):
		c.whole.add(out)
	}
	return out
}
