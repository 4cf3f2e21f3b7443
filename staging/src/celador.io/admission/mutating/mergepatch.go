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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"celador.io/admission/expression"
)

// mergePatcher merges a patch that has the form of the object.
type mergePatcher struct {
	expression.Compiled
	merge func(object, patch []byte, t target) ([]byte, error)
}

func (p mergePatcher) patch(series *expression.Series, t target) (patched, error) {
	value, err := evaluate(p.Compiled, series)
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
	codec := t.codec()
	before, err := runtime.Encode(codec, t.object())
	if err != nil {
		return patched{}, apierrors.NewInternalError(err)
	}
	after, err := p.merge(before, patch, t)
	if err != nil {
		return patched{}, fmt.Errorf("error applying patch: %w", err)
	}
	if err := checkSize(len(after)); err != nil {
		return patched{}, err
	}
	t.size = len(after)
	object, err := t.decode(codec, after)
	if err != nil {
		if err := checkKind(t.object(), after); err != nil {
			return patched{}, err
		}
		return patched{}, fmt.Errorf("patched object is not valid: %w", err)
	}
	return patched{object, func() []string { return leavesOfJSON(patch) }}, nil
}

// mergePatchOf encodes an object that an expression constructs, or a map.
func mergePatchOf(value ref.Val) ([]byte, error) {
	if object, ok := value.(*dynamic.ObjectVal); ok {
		fields, err := fieldsOf(object)
		if err != nil {
			return nil, err
		}
		content, err := nullified(fields)
		if err != nil {
			return nil, err
		}
		return json.Marshal(content)
	}
	return jsonOf(value)
}

// nullified puts JSON's null in the place of that of CEL in what an expression constructs. The
// error is about what JSON does not have.
func nullified(v any) (any, error) {
	switch v := v.(type) {
	case structpb.NullValue:
		return nil, nil
	case map[string]any:
		for name, field := range v {
			content, err := nullified(field)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", name, err)
			}
			v[name] = content
		}
	case []any:
		for i := range v {
			content, err := nullified(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = content
		}
	case nil, bool, string, int64, uint64, float64, []byte, time.Time:
	default:
		return nil, fmt.Errorf("a value of type %T has no JSON", v)
	}
	return v, nil
}

// mergeJSON follows RFC 7396.
func mergeJSON(object, patch []byte, _ target) ([]byte, error) {
	return jsonpatch.MergePatch(object, patch)
}

// mergeStrategically merges lists by the keys that built-in types declare.
func mergeStrategically(object, patch []byte, t target) ([]byte, error) {
	if _, custom := t.object().(*unstructured.Unstructured); custom {
		return nil, fmt.Errorf("%s is not built in: custom resources have no strategic merge patch, use JSONMergePatch or ApplyConfiguration", t.VersionedKind)
	}
	return strategicpatch.StrategicMergePatch(object, patch, t.object())
}
