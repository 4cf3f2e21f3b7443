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

// selector is a label selector. The zero value selects everything.
type selector struct{ matcher }

// matcher is the part of labels.Selector that selectors use.
type matcher interface {
	Matches(labels.Labels) bool
}

// invalid is a selector that cannot be parsed. The parse error is reported for requests to which
// the selector applies.
type invalid struct{ error }

func (invalid) Matches(labels.Labels) bool { return false }

// parseSelector parses a selector. Nil selects everything, as the API default does. required is a
// label that all selected objects have, or nil if the selector requires no label with a single
// value.
func parseSelector(s *metav1.LabelSelector) (_ selector, required *label) {
	if s == nil {
		return selector{}, nil
	}
	parsed, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return selector{invalid{apierrors.NewInternalError(err)}}, nil
	}
	requirements, _ := parsed.Requirements()
	required = requiredLabel(requirements)
	switch {
	case len(requirements) == 0:
		return selector{}, nil
	case len(requirements) == 1 && required != nil:
		return selector{required}, required
	default:
		return selector{parsed}, required
	}
}

// err returns the parse error of an invalid selector.
func (s selector) err() error {
	if m, ok := s.matcher.(invalid); ok {
		return m.error
	}
	return nil
}

// selectsNamespace reports whether the labels of the request's namespace match. Cluster-scoped
// objects other than namespaces are always selected.
func (s selector) selectsNamespace(r *Request) (bool, error) {
	if s.matcher == nil || !r.hasNamespaceLabels() {
		return true, nil
	}
	if err := s.err(); err != nil {
		return false, err
	}
	set, err := r.namespaceLabels()
	if err != nil {
		return false, err
	}
	return s.Matches(set), nil
}

// selectsObject reports whether the labels of the new or the old object match.
func (s selector) selectsObject(r *Request) (bool, error) {
	if s.matcher == nil {
		return true, nil
	}
	if err := s.err(); err != nil {
		return false, err
	}
	return s.matchesLabelsOf(r.GetObject()) || s.matchesLabelsOf(r.GetOldObject()), nil
}

func (s selector) matchesLabelsOf(object runtime.Object) bool {
	if object == nil {
		return false
	}
	accessor, err := meta.Accessor(object)
	// Objects without metadata, such as PodExecOptions, have no labels.
	return err == nil && s.Matches(labels.Set(accessor.GetLabels()))
}
