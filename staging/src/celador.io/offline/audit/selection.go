// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

// A selection has the policies and bindings of a Config, and marks those that the audit evaluates.
type selection struct {
	policies []*v1.ValidatingAdmissionPolicy
	// bindings has the bindings by the names of their policies.
	bindings map[string][]*v1.ValidatingAdmissionPolicyBinding
	// used holds the names of the policies and bindings that the audit evaluates, by kind.
	used map[[2]string]bool
	// unbound are the bindings that the audit makes for policies that have none.
	unbound []*unstructured.Unstructured
}

const bindingKind = cluster.ValidatingKind + "Binding"

// IsPolicy reports whether objects of the kind are validating policies or their bindings. An audit
// evaluates these, and only over objects of other kinds.
func IsPolicy(kind schema.GroupKind) bool {
	return kind.Group == v1.GroupName && (kind.Kind == cluster.ValidatingKind || kind.Kind == bindingKind)
}

// readSelection returns the policies and bindings of a Config. None is used yet.
func readSelection(config Config) (*selection, error) {
	s := &selection{bindings: map[string][]*v1.ValidatingAdmissionPolicyBinding{}, used: map[[2]string]bool{}}
	last := map[cluster.Identity]*unstructured.Unstructured{}
	for _, objects := range [][]*unstructured.Unstructured{config.Stored, config.Added} {
		for _, object := range objects {
			if key := cluster.Identify(object); IsPolicy(key.Kind) {
				last[key] = object
			}
		}
	}
	for key, object := range last {
		if key.Kind.Kind == bindingKind {
			b, err := convert[v1.ValidatingAdmissionPolicyBinding](object)
			if err != nil {
				return nil, err
			}
			s.bindings[b.Spec.PolicyName] = append(s.bindings[b.Spec.PolicyName], b)
			continue
		}
		p, err := convert[v1.ValidatingAdmissionPolicy](object)
		if err != nil {
			return nil, err
		}
		s.policies = append(s.policies, p)
	}
	return s, nil
}

// use marks a policy and its bindings for the cluster in which the audit evaluates them.
func (s *selection) use(p *v1.ValidatingAdmissionPolicy, bindings []*v1.ValidatingAdmissionPolicyBinding) {
	s.used[[2]string{cluster.ValidatingKind, p.Name}] = true
	for _, b := range bindings {
		s.used[[2]string{bindingKind, b.Name}] = true
	}
}

// cluster returns a cluster with the objects of the Config, except for the policies and bindings
// that the audit does not evaluate (see use).
func (s *selection) cluster(ctx context.Context, config Config) (*cluster.Cluster, error) {
	stored, _ := s.keep(config.Stored)
	added, indexes := s.keep(config.Added)
	c, err := cluster.NewBase(config.Backend).Restore(ctx, stored, append(added, s.unbound...))
	for _, err := range manifest.Errors(err) {
		// Restore counts the objects that were kept. The caller needs the index in config.Added.
		if invalid, ok := err.(*cluster.ObjectError); ok && invalid.Index < len(indexes) {
			invalid.Index = indexes[invalid.Index]
		}
	}
	return c, err
}

// keep returns the objects with their indexes, without the policies and bindings that are not used.
func (s *selection) keep(objects []*unstructured.Unstructured) (kept []*unstructured.Unstructured, indexes []int) {
	for i, object := range objects {
		if !IsPolicy(object.GroupVersionKind().GroupKind()) || s.used[[2]string{object.GetKind(), object.GetName()}] {
			kept, indexes = append(kept, object), append(indexes, i)
		}
	}
	return kept, indexes
}

// convert decodes a policy or binding. All versions have the same fields.
func convert[T any](object *unstructured.Unstructured) (*T, error) {
	into := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return into, nil
}
