// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// asStored returns an object as a server would store it, made from its manifest: with the fields
// that plugins and the strategy of the resource set on creation. Metadata and status in the
// manifest take precedence over those of a new object, because on a server later requests may have
// changed them. If the manifest is not valid as a new object, such as a Pod with ephemeral
// containers, asStored returns the manifest itself.
func (c *Cluster) asStored(ctx context.Context, r *resource, namespace string, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	content := manifest.DeepCopy()
	metadata, _, _ := unstructured.NestedMap(content.Object, "metadata")
	for _, field := range []string{"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		unstructured.RemoveNestedField(content.Object, "metadata", field)
	}
	scratch := withResults(withLayer(ctx, newLayer(c.objects)), newResults(&policySet{plugins: c.policies.plugins}))
	created, _, err := c.serve(scratch, newCreate(r, namespace, content))
	if err != nil || created == nil || created.GroupVersionKind() != manifest.GroupVersionKind() {
		return manifest
	}
	created.SetManagedFields(nil)
	if _, ok := metadata["resourceVersion"]; !ok {
		created.SetResourceVersion("")
	}
	if merged, ok := created.Object["metadata"].(map[string]any); ok {
		maps.Copy(merged, metadata)
	}
	if status, ok := manifest.Object["status"]; ok {
		created.Object["status"] = status
	}
	return created
}

// completed returns the body of an update: object, with those fields of the stored object that the
// server has set. manifest is the manifest from which the object was created. Clients read an
// object before they update it, so they send these fields, too.
func completed(object, manifest, stored *unstructured.Unstructured) *unstructured.Unstructured {
	if object.GroupVersionKind() != stored.GroupVersionKind() {
		return object
	}
	return &unstructured.Unstructured{Object: complete(object.DeepCopy().Object, manifest.Object, stored.Object).(map[string]any)}
}

// complete does the work of completed for one value in the object. It adds what stored has and
// neither object nor manifest has, which the server has set. It does not add what manifest has and
// object lacks, because the client has removed it. complete changes object. Items of two lists
// correspond if they have the same name or, without names, the same position.
func complete(object, manifest, stored any) any {
	switch object := object.(type) {
	case map[string]any:
		written, _ := manifest.(map[string]any)
		set, _ := stored.(map[string]any)
		for key, value := range set {
			current, has := object[key]
			_, wrote := written[key]
			switch {
			case has && wrote:
				object[key] = complete(current, written[key], value)
			case !has && !wrote:
				object[key] = value
			}
		}
		return object
	case []any:
		written, _ := manifest.([]any)
		set, _ := stored.([]any)
		for i, value := range set {
			at := position(object, i, value)
			before := position(written, i, value)
			switch {
			case at >= 0 && before >= 0:
				object[at] = complete(object[at], written[before], value)
			case at < 0 && before < 0:
				object = append(object, value)
			}
		}
		return object
	}
	return object
}

// position returns the position in a list of the item that corresponds to item, which is item i of
// another list: the first with the same name or, if item has no name, item i. It returns -1 if
// there is none.
func position(list []any, i int, item any) int {
	name := nameOf(item)
	for at, other := range list {
		if name != nil && reflect.DeepEqual(nameOf(other), name) || name == nil && at == i {
			return at
		}
	}
	return -1
}

// nameOf returns the name of an item of a list, or nil.
func nameOf(item any) any {
	fields, _ := item.(map[string]any)
	return fields["name"]
}
