// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	"github.com/google/cel-go/common/types/ref"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// MaxObjectBytes bounds the JSON of an object that mutations change. Mutations that double a
// value, in many policies or rounds, would take all memory otherwise. Requests have 3 MiB and
// etcd's clients send 2 MiB, so storage refuses an object long before.
const MaxObjectBytes = 16 << 20

// checkSize returns an error if a patch, or the JSON that it results in, has too many bytes.
func checkSize(bytes int) error {
	if bytes <= MaxObjectBytes {
		return nil
	}
	return fmt.Errorf("mutation makes the object larger than %d MiB of JSON, which is far more than storage takes: let it write less, or add a match condition that is false once the mutation has been made", MaxObjectBytes>>20)
}

// grow adds the content of an apply configuration to the size of the object. It returns an
// error if the object could become too large. The size is a bound: it also counts what later
// configurations replace, until the object is measured again.
func (t target) grow(content int) error {
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

// contentOf returns about the bytes that a value takes in JSON, or a number above most as soon
// as there are more. The value may share parts with itself, so there can be many more than it
// takes in memory.
func contentOf(value any, most int) int {
	const scalar, separator = 4, 3
	bytes := scalar
	add := func(part any) bool {
		bytes += separator + contentOf(part, most-bytes)
		return bytes <= most
	}
	switch v := value.(type) {
	case string:
		bytes = len(v)
	case []byte:
		bytes = len(v)
	case ref.Val:
		native := v.Value()
		if _, opaque := native.(ref.Val); opaque {
			return bytes // a format is its own value
		}
		return contentOf(native, most)
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
