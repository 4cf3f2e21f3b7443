// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package compact makes policies and bindings in informer caches share equal parts. Thousands of
// them mostly have the same metadata, match resources and paramRefs.
package compact

import (
	"bytes"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"unique"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/internal/intern"
)

// Compactor replaces parts of objects by equal parts of other objects. Safe for concurrent use.
type Compactor struct {
	seed           maphash.Seed
	matchResources intern.Pool[uint64, v1.MatchResources]
	paramRefs      intern.Pool[uint64, v1.ParamRef]

	lock sync.Mutex
	// texts holds recent labels and annotations by hash.
	texts map[uint64]map[string]string
}

// New returns a Compactor.
func New() *Compactor {
	return &Compactor{seed: maphash.MakeSeed(), texts: map[uint64]map[string]string{}}
}

const (
	// maxLength is the maximum length of a label's value. Longer texts are seldom equal.
	maxLength = 63
	// maxTexts bounds the memory for texts of deleted objects.
	maxTexts = 1000
)

// Transform is a cache.TransformFunc. It compacts policies and bindings in place, and removes their
// managed fields as kube-apiserver's informers do. Shared parts must not be changed afterwards. It
// leaves other objects as they are and never returns an error.
func (c *Compactor) Transform(object any) (any, error) {
	switch o := object.(type) {
	case *v1.ValidatingAdmissionPolicy:
		c.compactMeta(&o.TypeMeta, &o.ObjectMeta)
		share(c, &c.matchResources, &o.Spec.MatchConstraints)
	case *v1.MutatingAdmissionPolicy:
		c.compactMeta(&o.TypeMeta, &o.ObjectMeta)
		share(c, &c.matchResources, &o.Spec.MatchConstraints)
	case *v1.ValidatingAdmissionPolicyBinding:
		c.compactMeta(&o.TypeMeta, &o.ObjectMeta)
		c.compactBinding(&o.Spec.PolicyName, &o.Spec.MatchResources, &o.Spec.ParamRef)
		shareActions(&o.Spec.ValidationActions)
	case *v1.MutatingAdmissionPolicyBinding:
		c.compactMeta(&o.TypeMeta, &o.ObjectMeta)
		c.compactBinding(&o.Spec.PolicyName, &o.Spec.MatchResources, &o.Spec.ParamRef)
	}
	return object, nil
}

func (c *Compactor) compactMeta(kind *metav1.TypeMeta, meta *metav1.ObjectMeta) {
	shareText(&kind.Kind)
	shareText(&kind.APIVersion)
	meta.ManagedFields = nil
	meta.Labels = c.shareTexts(meta.Labels)
	meta.Annotations = c.shareTexts(meta.Annotations)
}

func (c *Compactor) compactBinding(policyName *string, match **v1.MatchResources, ref **v1.ParamRef) {
	shareText(policyName)
	share(c, &c.matchResources, match)
	share(c, &c.paramRefs, ref)
}

// share replaces a part by a part of the pool with the same protobuf encoding, which clients cannot
// tell apart.
func share[T any, P interface {
	*T
	Marshal() ([]byte, error)
}](c *Compactor, pool *intern.Pool[uint64, T], part *P) {
	if *part == nil {
		return
	}
	wire, err := (*part).Marshal()
	if err != nil {
		return // the part stays unshared, which only takes more memory
	}
	pooled := P(pool.Get(maphash.Bytes(c.seed, wire), func() *T { return *part }))
	if other, err := pooled.Marshal(); err == nil && bytes.Equal(other, wire) {
		*part = pooled
	}
}

// shareTexts returns equal texts of an earlier object, if there are any. Go has no weak pointers to
// maps, so only recent texts are kept. Most often they are the same for many objects.
func (c *Compactor) shareTexts(texts map[string]string) map[string]string {
	if len(texts) == 0 {
		return texts
	}
	var hash uint64
	for key, value := range texts {
		if len(value) > maxLength {
			return texts
		}
		hash += maphash.Comparable(c.seed, [2]string{key, value})
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if known := c.texts[hash]; maps.Equal(known, texts) {
		return known
	}
	if len(c.texts) == maxTexts {
		clear(c.texts)
	}
	c.texts[hash] = texts
	return texts
}

func shareText(text *string) { *text = unique.Make(*text).Value() }

// usualActions are the actions of nearly all bindings.
var usualActions = [][]v1.ValidationAction{
	{v1.Deny}, {v1.Warn}, {v1.Audit},
	{v1.Deny, v1.Audit}, {v1.Audit, v1.Deny}, {v1.Warn, v1.Audit}, {v1.Audit, v1.Warn},
}

func shareActions(actions *[]v1.ValidationAction) {
	for _, usual := range usualActions {
		if slices.Equal(*actions, usual) {
			*actions = usual
			return
		}
	}
}
