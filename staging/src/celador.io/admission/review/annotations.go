// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package review

import (
	"fmt"
	"hash/fnv"
	"maps"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
)

// annotations holds the audit annotations of a response. Safe for concurrent use.
type annotations struct {
	lock   sync.Mutex
	values map[string]string
}

func (a *annotations) add(key, value string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.values == nil {
		a.values = map[string]string{}
	}
	a.values[responseKey(key)] = value
}

func (a *annotations) all() map[string]string {
	a.lock.Lock()
	defer a.lock.Unlock()
	return maps.Clone(a.values)
}

// responseKey returns the key of an annotation in a response. The API server prefixes it with the
// name of the webhook and a slash. The key must therefore contain no slash, and must not be longer
// than the name of a label. So an underscore replaces the slash. It is the first underscore of a
// key that is not shortened, because the part before the slash is a DNS name.
func responseKey(key string) string {
	name := strings.Replace(key, "/", "_", 1)
	if excess := len(name) - validation.LabelValueMaxLength; excess > 0 {
		hash := fnv.New32a()
		hash.Write([]byte(name))
		sum := fmt.Sprintf("%08x-", hash.Sum32())
		name = sum + name[excess+len(sum):]
	}
	return name
}

// AddAnnotation implements admission.Attributes. Response returns the annotation with an underscore
// in the place of the slash, since the API server adds a prefix of its own. If the key is longer
// than 63 characters, a hash replaces its beginning.
func (r *Request) AddAnnotation(key, value string) error {
	return r.AddAnnotationWithLevel(key, value, auditinternal.LevelMetadata)
}

// AddAnnotationWithLevel implements admission.Attributes. Response omits annotations of a level
// above Metadata, because the API server writes all annotations of a webhook at that level.
func (r *Request) AddAnnotationWithLevel(key, value string, level auditinternal.Level) error {
	if err := r.Attributes.AddAnnotationWithLevel(key, value, level); err != nil {
		return err
	}
	if level == auditinternal.LevelMetadata {
		r.annotations.add(key, value)
	}
	return nil
}
