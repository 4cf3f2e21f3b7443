// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// patchOperations are the operations of RFC 6902. needsValue and needsFrom tell which fields they
// require.
var patchOperations = map[string]struct{ needsValue, needsFrom bool }{
	"add": {needsValue: true}, "remove": {}, "replace": {needsValue: true}, "move": {needsFrom: true}, "copy": {needsFrom: true}, "test": {needsValue: true},
}

// patch checks that the operations of an expected patch are valid.
func (l *loader) patch(path string, operations []PatchOperation) {
	for i, o := range operations {
		field := fmt.Sprintf("%s[%d]", path, i)
		fields, known := patchOperations[o.Op]
		if !known {
			l.fail(field+".op", "unknown operation %q, want one of %s", o.Op, strings.Join(keys(patchOperations), ", "))
			continue
		}
		l.pointer(field+".path", o.Path)
		if fields.needsValue && o.Value == nil {
			l.fail(field+".value", "required with op: %s", o.Op)
		}
		if fields.needsFrom {
			l.pointer(field+".from", o.From)
		}
	}
}

// pointer checks the JSON pointer to a value inside an object. A policy cannot patch the object as
// a whole, so the pointer must not be empty.
func (l *loader) pointer(path, pointer string) {
	if !strings.HasPrefix(pointer, "/") {
		l.fail(path, "%q does not point into the object, want a JSON pointer such as /metadata/labels/app. To compare whole objects, use object", pointer)
	}
}

// checkPatch applies the operations of the expected patch to before, and adds a mismatch for each
// field in which the result differs from after. So it accepts each patch that has the same effect
// as the policies.
func (c *checker) checkPatch(operations []PatchOperation, before, after *unstructured.Unstructured) {
	source, wanted := Normalize(before), map[string]any{}
	patched, err := apply(operations, source)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(patched, &wanted)
	}
	if err != nil {
		c.fail("patch", "a patch of the object", err.Error())
		return
	}
	got := Normalize(after)
	count := len(c.mismatches)
	if c.checkPart("patch", wanted, got, true); len(c.mismatches) > count {
		c.differences = append(c.differences, Difference{Field: "patch", Want: wanted, Got: got})
	}
}

// apply applies a patch to an object and returns the result as JSON.
func apply(operations []PatchOperation, object map[string]any) ([]byte, error) {
	document, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(operations)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, err
	}
	return patch.Apply(document)
}

// tokenVolume matches the name of the volume that the plugin ServiceAccount adds to each Pod. It
// ends in letters and digits that are random, so Normalize replaces them.
var tokenVolume = regexp.MustCompile(`^kube-api-access-[a-z0-9]{5}$`)

// Normalize returns a copy of an object without the values that a server chooses anew for each
// request.
func Normalize(object *unstructured.Unstructured) map[string]any {
	result := object.DeepCopy()
	for _, field := range []string{"uid", "creationTimestamp", "resourceVersion", "generation", "managedFields"} {
		unstructured.RemoveNestedField(result.Object, "metadata", field)
	}
	// Other fields may repeat the UID or a generated name, for example the labels and the selector
	// of a Job.
	random := map[string]string{string(object.GetUID()): "xxxxx"}
	if prefix := object.GetGenerateName(); prefix != "" {
		random[object.GetName()] = prefix + "xxxxx"
	}
	delete(random, "")
	return withoutRandom(result.Object, random).(map[string]any)
}

// withoutRandom replaces the random strings in value: a string that is a key of random by the value
// of this key, and the names of token volumes by a fixed one. It changes value and returns it.
func withoutRandom(value any, random map[string]string) any {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			value[key] = withoutRandom(field, random)
		}
	case []any:
		for i, item := range value {
			value[i] = withoutRandom(item, random)
		}
	case string:
		if fixed, found := random[value]; found {
			return fixed
		}
		if tokenVolume.MatchString(value) {
			return "kube-api-access-xxxxx"
		}
	}
	return value
}
