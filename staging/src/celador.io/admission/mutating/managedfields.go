// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"bytes"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// sameManagedFields reports whether a mutation leaves metadata.managedFields as it is. The API
// server records in it who set which fields. Server-side apply uses the record to find conflicts
// and fields to remove.
func sameManagedFields(before, after runtime.Object) bool {
	if before, custom := before.(*unstructured.Unstructured); custom {
		if after, custom := after.(*unstructured.Unstructured); custom {
			a, b := contentOfManagedFields(before), contentOfManagedFields(after)
			return isEmptyList(a) && isEmptyList(b) || equality.Semantic.DeepEqual(a, b)
		}
	}
	old, err := meta.Accessor(before)
	if err != nil {
		return true // options of CONNECT requests have no metadata
	}
	current, err := meta.Accessor(after)
	if err != nil {
		return false
	}
	a, b := old.GetManagedFields(), current.GetManagedFields()
	// Most patches leave the slice itself as it is, so that its address is enough.
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.EqualFunc(a, b, sameEntry))
}

func contentOfManagedFields(object *unstructured.Unstructured) any {
	metadata, _ := object.Object["metadata"].(map[string]any)
	return metadata["managedFields"]
}

func isEmptyList(content any) bool {
	list, ok := content.([]any)
	return content == nil || ok && len(list) == 0
}

// sameEntry compares two entries of managedFields. A patch may have encoded b as JSON and decoded
// it, which changes the form of its time and fields, not their meaning.
func sameEntry(a, b metav1.ManagedFieldsEntry) bool {
	if !sameFields(a.FieldsV1, b.FieldsV1) {
		return false
	}
	a.FieldsV1, b.FieldsV1 = nil, nil
	// A nil time and the zero time are both null in JSON.
	if a.Time.IsZero() && b.Time.IsZero() {
		a.Time, b.Time = nil, nil
	}
	return jsonEquality.DeepEqual(a, b)
}

func sameFields(a, b *metav1.FieldsV1) bool {
	textA, textB := a.GetRawBytes(), b.GetRawBytes()
	if bytes.Equal(textA, textB) {
		return true
	}
	// JSON has several texts for a set of fields.
	var fieldsA, fieldsB fieldpath.Set
	return fieldsA.FromJSON(bytes.NewReader(textA)) == nil && fieldsB.FromJSON(bytes.NewReader(textB)) == nil && fieldsA.Equals(&fieldsB)
}
