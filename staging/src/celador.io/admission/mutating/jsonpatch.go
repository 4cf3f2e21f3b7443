// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"

	"celador.io/admission/cel/constructed"
	"celador.io/admission/cel/expression"
)

// jsonPatcher applies the JSON patch operations of spec.mutations[].jsonPatch.
type jsonPatcher struct{ *expression.Program }

func (p jsonPatcher) patch(series *expression.Series, t patchable) (patched, error) {
	value, err := p.Evaluate(series)
	if err != nil {
		return patched{}, err
	}
	list, ok := value.(traits.Lister)
	if !ok {
		return patched{}, errors.New("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	operations, err := operationsOf(list)
	if err != nil {
		return patched{}, err
	}
	return applyJSONPatch(operations, t)
}

func operationsOf(list traits.Lister) (jsonpatch.Patch, error) {
	patch, bytes := jsonpatch.Patch{}, 0
	for it := list.Iterator(); it.HasNext() == types.True; {
		element := it.Next()
		operation, ok := element.(*celmutation.JSONPatchVal)
		if !ok {
			_, err := element.ConvertToNative(operationType)
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch: %w", err)
		}
		encoded, err := operationOf(operation)
		if err != nil {
			return nil, err
		}
		if value := encoded["value"]; value != nil {
			bytes += len(*value)
		}
		if err := checkSize(bytes); err != nil {
			return nil, err
		}
		patch = append(patch, encoded)
	}
	return patch, nil
}

func operationOf(o *celmutation.JSONPatchVal) (jsonpatch.Operation, error) {
	operation := jsonpatch.Operation{}
	for field, text := range map[string]string{"op": o.Op, "path": o.Path, "from": o.From} {
		if field == "from" && text == "" {
			continue
		}
		encoded, err := json.Marshal(text)
		if err != nil {
			return nil, fmt.Errorf("JSON Patch: %q: %w", field, err)
		}
		operation[field] = (*json.RawMessage)(&encoded)
	}
	if o.Val == nil {
		return operation, nil
	}
	encoded, err := jsonOf(o.Val)
	if err != nil {
		return nil, err
	}
	operation["value"] = (*json.RawMessage)(&encoded)
	return operation, nil
}

// jsonOf encodes any value that JSON can represent.
func jsonOf(value ref.Val) ([]byte, error) {
	if object, ok := value.(*constructed.Object); ok {
		if err := checkTypeNames(object); err != nil {
			return nil, err
		}
	}
	var encoded []byte
	content, err := jsonValueOf(value)
	if err == nil {
		encoded, err = json.Marshal(content)
	}
	if err != nil {
		return nil, fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
	}
	return encoded, nil
}

var operationType = reflect.TypeFor[*celmutation.JSONPatchVal]()

// applyJSONPatch applies a JSON patch to the object. A failing test operation skips the whole
// patch.
func applyJSONPatch(operations jsonpatch.Patch, t patchable) (patched, error) {
	object, err := t.change("JSON patch", func(before []byte) ([]byte, error) { return applyOperations(operations, before) })
	if errors.Is(err, jsonpatch.ErrTestFailed) {
		return patched{object: t.object()}, nil
	}
	return patched{object, func() []string { return operationPaths(operations) }}, err
}

// applyOperations applies a patch to a JSON document. It returns an error if the document
// exceeds MaxObjectBytes. Each copy operation can double the document. API servers limit the
// bytes that the copy operations of a patch add, with the process-wide
// jsonpatch.AccumulatedCopySizeLimit. Where that limit is not set, applyOperations applies the
// patch in parts and checks the size after each.
func applyOperations(patch jsonpatch.Patch, document []byte) ([]byte, error) {
	copiesAreLimited := atomic.LoadInt64(&jsonpatch.AccumulatedCopySizeLimit) > 0
	for len(patch) > 0 {
		n := len(patch)
		if !copiesAreLimited {
			n = boundedOperations(patch, len(document))
		}
		var err error
		if document, err = patch[:n].Apply(document); err != nil {
			return nil, fmt.Errorf("JSON Patch: %w", err)
		}
		if err := checkSize(len(document)); err != nil {
			return nil, err
		}
		patch = patch[n:]
	}
	return document, nil
}

// boundedOperations returns how many operations can be applied to a document of the given size at a
// time, before it may exceed twice MaxObjectBytes. It returns at least one.
func boundedOperations(patch jsonpatch.Patch, bytes int) int {
	for i, operation := range patch {
		if operation.Kind() == "copy" {
			bytes *= 2
		} else if value := operation["value"]; value != nil {
			bytes += len(*value)
		}
		if bytes > 2*MaxObjectBytes {
			return max(i, 1)
		}
	}
	return len(patch)
}

func operationPaths(operations jsonpatch.Patch) []string {
	var paths []string
	for _, operation := range operations {
		// An operation without a path would have failed when the patch was applied.
		if path, err := operation.Path(); err == nil && operation.Kind() != "test" {
			paths = append(paths, path)
		}
	}
	return paths
}

// change returns the result of applying patch to the JSON of the object, decoded. kind names the
// kind of the patch in the error for an object that has no JSON.
func (t patchable) change(kind string, patch func(object []byte) ([]byte, error)) (runtime.Object, error) {
	codec := t.codec()
	before, err := runtime.Encode(codec, t.object())
	if err != nil {
		return nil, fmt.Errorf("failed to create %s: %w", kind, err)
	}
	after, err := patch(before)
	if err != nil {
		return nil, err
	}
	t.size = len(after)
	object, err := t.decode(codec, after)
	if err != nil {
		return nil, cmp.Or(checkKind(t.object(), after), fmt.Errorf("patched object is not valid: %w", err))
	}
	return object, nil
}

// codec returns a JSON serializer for the object and for patched objects. Decoding rejects
// unknown and duplicate fields.
func (t patchable) codec() runtime.Serializer {
	return serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, t.objects.GetObjectCreater(), t.objects.GetObjectTyper(), serializer.SerializerOptions{Strict: true})
}

// decode decodes the JSON of a patched object, which has the same kind.
func (t patchable) decode(decoder runtime.Decoder, text []byte) (runtime.Object, error) {
	var into runtime.Object = &unstructured.Unstructured{}
	if _, custom := t.object().(*unstructured.Unstructured); !custom {
		var err error
		if into, err = t.objects.GetObjectCreater().New(t.VersionedKind); err != nil {
			return nil, err
		}
	}
	object, _, err := decoder.Decode(text, nil, into)
	return object, err
}
