// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/types/known/structpb"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"celador.io/admission/cel/constructed"
	"celador.io/admission/cel/expression"
)

// mergePatcher applies a JSON merge patch or a strategic merge patch.
type mergePatcher struct {
	*expression.Program
	merge func(object, patch []byte, t patchable) ([]byte, error)
}

func (p mergePatcher) patch(series *expression.Series, t patchable) (patched, error) {
	value, err := p.Evaluate(series)
	if err != nil {
		return patched{}, err
	}
	patch, err := mergePatchOf(value)
	if err == nil {
		err = checkSize(len(patch))
	}
	if err != nil {
		return patched{}, err
	}
	object, err := t.change("merge patch", func(before []byte) ([]byte, error) {
		after, err := p.merge(before, patch, t)
		if err != nil {
			return nil, fmt.Errorf("error applying patch: %w", err)
		}
		return after, checkSize(len(after))
	})
	return patched{object, func() []string { return fieldPathsOfJSON(patch) }}, err
}

// mergePatchOf returns the JSON of a merge patch: an Object that an expression constructed, or a
// map.
func mergePatchOf(value ref.Val) ([]byte, error) {
	if object, ok := value.(*constructed.Object); ok {
		fields, err := fieldsOf(object)
		if err != nil {
			return nil, err
		}
		content, err := jsonContent(fields)
		if err != nil {
			return nil, err
		}
		return json.Marshal(content)
	}
	return jsonOf(value)
}

// jsonContent returns a copy of the content of an Object with nil in place of CEL's null, so that
// null is encoded as null. The content itself stays as it is: it may share maps and lists with
// params, which other requests read. jsonContent returns an error for values that JSON cannot
// represent, such as durations.
func jsonContent(v any) (any, error) {
	switch v := v.(type) {
	case structpb.NullValue:
		return nil, nil
	case map[string]any:
		copied := make(map[string]any, len(v))
		for name, field := range v {
			content, err := jsonContent(field)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", name, err)
			}
			copied[name] = content
		}
		return copied, nil
	case []any:
		copied := make([]any, len(v))
		for i, element := range v {
			content, err := jsonContent(element)
			if err != nil {
				return nil, err
			}
			copied[i] = content
		}
		return copied, nil
	case nil, bool, string, int64, uint64, float64, []byte, time.Time:
		return v, nil
	default:
		return nil, fmt.Errorf("a value of type %T has no JSON", v)
	}
}

// mergeJSON applies a JSON merge patch (RFC 7396).
func mergeJSON(object, patch []byte, _ patchable) ([]byte, error) {
	return jsonpatch.MergePatch(object, patch)
}

// mergeStrategically applies a strategic merge patch, which merges lists by the patchMergeKey of Go
// types. Custom resources have none, so it returns an error for them.
func mergeStrategically(object, patch []byte, t patchable) ([]byte, error) {
	if _, custom := t.object().(*unstructured.Unstructured); custom {
		return nil, fmt.Errorf("%s is not built in: custom resources have no strategic merge patch, use JSONMergePatch or ApplyConfiguration", t.VersionedKind)
	}
	return strategicpatch.StrategicMergePatch(object, patch, t.object())
}
