// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// selector is a label selector, or the reason why it cannot be parsed, which is
// reported for the requests it would have to decide.
type selector struct {
	labels.Selector
	err error
}

// parseSelector takes nil for the empty selector, its default.
func parseSelector(s *metav1.LabelSelector) selector {
	if s == nil {
		return selector{Selector: labels.Everything()}
	}
	parsed, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return selector{err: apierrors.NewInternalError(err)}
	}
	return selector{Selector: parsed}
}

// selectsNamespace says whether the request's namespace has matching labels.
// Cluster-scoped objects other than namespaces are always selected.
func (s selector) selectsNamespace(r *Request) (bool, error) {
	if !r.hasNamespaceLabels() {
		return true, nil
	}
	if s.err != nil {
		return false, s.err
	}
	if s.Empty() {
		return true, nil
	}
	set, err := r.namespaceLabels()
	if err != nil {
		return false, err
	}
	return s.Matches(set), nil
}

// selectsObject says whether the new or the old object has matching labels.
func (s selector) selectsObject(r *Request) (bool, error) {
	if s.err != nil {
		return false, s.err
	}
	return s.Empty() || s.matchesLabelsOf(r.GetObject()) || s.matchesLabelsOf(r.GetOldObject()), nil
}

func (s selector) matchesLabelsOf(object runtime.Object) bool {
	if object == nil {
		return false
	}
	accessor, err := meta.Accessor(object)
	// Objects without metadata, such as connect options, have no labels to match.
	return err == nil && s.Matches(labels.Set(accessor.GetLabels()))
}
