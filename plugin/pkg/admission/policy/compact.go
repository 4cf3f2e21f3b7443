// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"unique"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/intern"
)

// compactor has policies and bindings in informers share what they have in common,
// which is most of them when there are thousands. It changes nothing that can be seen,
// except that it drops managed fields, as the informers of a kube-apiserver do. Safe for
// concurrent use.
type compactor struct {
	seed           maphash.Seed
	matchResources intern.Pool[uint64, v1.MatchResources]
	paramRefs      intern.Pool[uint64, v1.ParamRef]

	lock sync.Mutex
	// texts are labels and annotations met lately, by hash.
	texts map[uint64]map[string]string
}

func newCompactor() *compactor {
	return &compactor{seed: maphash.MakeSeed(), texts: map[uint64]map[string]string{}}
}

const (
	// maxLength is that of a label's value. Longer texts are seldom equal.
	maxLength = 63
	// maxTexts bounds what is kept of objects that are gone.
	maxTexts = 1000
)

// transform is a cache.TransformFunc.
func (c *compactor) transform(object any) (any, error) {
	switch o := object.(type) {
	case *v1.ValidatingAdmissionPolicy:
		c.compactMeta(&o.TypeMeta, &o.ObjectMeta)
		o.Spec.MatchConstraints = share(c.seed, &c.matchResources, o.Spec.MatchConstraints)
	case *v1.ValidatingAdmissionPolicyBinding:
		c.compactMeta(&o.TypeMeta, &o.ObjectMeta)
		shareText(&o.Spec.PolicyName)
		o.Spec.MatchResources = share(c.seed, &c.matchResources, o.Spec.MatchResources)
		o.Spec.ParamRef = share(c.seed, &c.paramRefs, o.Spec.ParamRef)
		o.Spec.ValidationActions = shareActions(o.Spec.ValidationActions)
	case *v1.MutatingAdmissionPolicy:
		c.compactMeta(&o.TypeMeta, &o.ObjectMeta)
		o.Spec.MatchConstraints = share(c.seed, &c.matchResources, o.Spec.MatchConstraints)
	case *v1.MutatingAdmissionPolicyBinding:
		c.compactMeta(&o.TypeMeta, &o.ObjectMeta)
		shareText(&o.Spec.PolicyName)
		o.Spec.MatchResources = share(c.seed, &c.matchResources, o.Spec.MatchResources)
		o.Spec.ParamRef = share(c.seed, &c.paramRefs, o.Spec.ParamRef)
	}
	return object, nil
}

// share returns an object that is equal for clients: in the wire format.
func share[T any, P interface {
	*T
	Marshal() ([]byte, error)
}](seed maphash.Seed, pool *intern.Pool[uint64, T], object P) P {
	if object == nil {
		return nil
	}
	wire, err := object.Marshal()
	if err != nil {
		return object // which only takes more memory
	}
	pooled := P(pool.Get(maphash.Bytes(seed, wire), func() *T { return object }))
	if other, err := pooled.Marshal(); err != nil || !bytes.Equal(other, wire) {
		return object
	}
	return pooled
}

func (c *compactor) compactMeta(kind *metav1.TypeMeta, meta *metav1.ObjectMeta) {
	shareText(&kind.Kind)
	shareText(&kind.APIVersion)
	meta.ManagedFields = nil
	meta.Labels = c.shareTexts(meta.Labels)
	meta.Annotations = c.shareTexts(meta.Annotations)
}

// shareTexts returns equal texts. There are no weak pointers to maps, so it can only be
// those met lately; most often they are the same for many objects.
func (c *compactor) shareTexts(texts map[string]string) map[string]string {
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

// shareText replaces a text by an equal one.
func shareText(text *string) { *text = unique.Make(*text).Value() }

// usualActions are those of nearly all bindings.
var usualActions = [][]v1.ValidationAction{
	{v1.Deny}, {v1.Warn}, {v1.Audit},
	{v1.Deny, v1.Audit}, {v1.Audit, v1.Deny}, {v1.Warn, v1.Audit}, {v1.Audit, v1.Warn},
}

func shareActions(actions []v1.ValidationAction) []v1.ValidationAction {
	for _, usual := range usualActions {
		if slices.Equal(actions, usual) {
			return usual
		}
	}
	return actions
}
