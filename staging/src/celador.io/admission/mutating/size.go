// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	"github.com/google/cel-go/common/types/ref"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/internal/structuredmerge"
)

// MaxObjectBytes is the maximum size of the JSON of an object while mutations change it.
// Without a limit, mutations that double a value, in many policies or rounds, would exhaust the
// memory. The limit does not restrict valid objects: API requests have at most 3 MiB, and etcd's
// clients send at most 2 MiB.
const MaxObjectBytes = 16 << 20

// checkSize returns an error if a patch, or the object that it results in, has more than
// MaxObjectBytes of JSON.
func checkSize(bytes int) error {
	if bytes <= MaxObjectBytes {
		return nil
	}
	return fmt.Errorf("mutation makes the object larger than %d MiB of JSON, which is far more than storage takes: let it write less, or add a match condition that is false once the mutation has been made", MaxObjectBytes>>20)
}

// grow is called for each apply configuration, with its size. It adds the size to t.size, an upper
// bound of the object's size, which also counts values that later configurations have replaced. If
// the sum exceeds MaxObjectBytes, grow measures the object, and returns an error if the
// configuration makes it too large.
func (t patchable) grow(content int) error {
	if err := checkSize(content); err != nil {
		return err
	}
	if t.size+content > MaxObjectBytes {
		encoded, err := runtime.Encode(t.codec(), t.object())
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		t.size = len(encoded)
	}
	if err := checkSize(t.size + content); err != nil {
		return err
	}
	t.size += content
	return nil
}

// jsonSize estimates the size of a value in JSON, with the same numbers as
// structuredmerge.Merged.Bytes. It stops soon after the size exceeds limit, because values that
// contain another value several times can be far larger in JSON than in memory.
func jsonSize(value any, limit int) int {
	bytes := structuredmerge.ScalarBytes
	add := func(part any) bool {
		bytes += structuredmerge.SeparatorBytes + jsonSize(part, limit-bytes)
		return bytes <= limit
	}
	switch v := value.(type) {
	case string:
		bytes = len(v)
	case []byte:
		bytes = len(v)
	case ref.Val:
		native := v.Value()
		if _, opaque := native.(ref.Val); opaque {
			return bytes // the Value of a format is the format itself
		}
		return jsonSize(native, limit)
	case map[string]any:
		for name, field := range v {
			bytes += len(name)
			if !add(field) {
				break
			}
		}
	case []any:
		for _, element := range v {
			if !add(element) {
				break
			}
		}
	case map[ref.Val]ref.Val:
		for key, field := range v {
			if !add(key) || !add(field) {
				break
			}
		}
	case []ref.Val:
		for _, element := range v {
			if !add(element) {
				break
			}
		}
	}
	return bytes
}
