// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package compact makes policies and bindings in informer caches smaller. Thousands of them mostly
// have the same match resources and paramRefs, which they then share: 1,000 policies take 20 MiB
// instead of 95.
package compact

import (
	"bytes"
	"hash/maphash"
	"slices"
	"unique"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/cel/intern"
)

// Compactor replaces parts of objects by equal parts of other objects. Safe for concurrent use.
type Compactor struct {
	seed           maphash.Seed
	matchResources intern.Pool[uint64, v1.MatchResources]
	paramRefs      intern.Pool[uint64, v1.ParamRef]
}

// New returns a Compactor.
func New() *Compactor { return &Compactor{seed: maphash.MakeSeed()} }

// Transform is a cache.TransformFunc. It compacts policies and bindings in place: it sets fields of
// the object, and does not write to what they refer to, so a shallow copy of the object keeps its
// content. It removes the metadata that neither admission plugins nor the status controller read,
// such as annotations, in which kubectl stores the whole object once more. Of managed fields, those
// of the status remain. Shared parts must not be changed afterwards. Transform leaves other objects
// as they are and never returns an error.
func (c *Compactor) Transform(object any) (any, error) {
	switch o := object.(type) {
	case *v1.ValidatingAdmissionPolicy:
		compactMeta(&o.TypeMeta, &o.ObjectMeta)
		share(c, &c.matchResources, &o.Spec.MatchConstraints)
	case *v1.MutatingAdmissionPolicy:
		compactMeta(&o.TypeMeta, &o.ObjectMeta)
		share(c, &c.matchResources, &o.Spec.MatchConstraints)
	case *v1.ValidatingAdmissionPolicyBinding:
		compactMeta(&o.TypeMeta, &o.ObjectMeta)
		c.compactBinding(&o.Spec.PolicyName, &o.Spec.MatchResources, &o.Spec.ParamRef)
		shareActions(&o.Spec.ValidationActions)
	case *v1.MutatingAdmissionPolicyBinding:
		compactMeta(&o.TypeMeta, &o.ObjectMeta)
		c.compactBinding(&o.Spec.PolicyName, &o.Spec.MatchResources, &o.Spec.ParamRef)
	}
	return object, nil
}

func compactMeta(kind *metav1.TypeMeta, meta *metav1.ObjectMeta) {
	*kind = metav1.TypeMeta{}
	*meta = metav1.ObjectMeta{
		Name: meta.Name, UID: meta.UID, ResourceVersion: meta.ResourceVersion, Generation: meta.Generation,
		ManagedFields: ofStatus(meta.ManagedFields),
	}
}

// ofStatus returns the entries for the status, or nil if there are none.
func ofStatus(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var kept []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.Subresource == "status" {
			kept = append(kept, entry)
		}
	}
	return kept
}

func (c *Compactor) compactBinding(policyName *string, match **v1.MatchResources, ref **v1.ParamRef) {
	*policyName = unique.Make(*policyName).Value()
	share(c, &c.matchResources, match)
	share(c, &c.paramRefs, ref)
}

// share lets a part, such as the match resources of a binding, be the same Go object as an equal
// part of another policy or binding, which the pool keeps. Equal parts have the same protobuf
// encoding, so clients cannot tell them apart. A part that cannot be encoded stays as it is.
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
