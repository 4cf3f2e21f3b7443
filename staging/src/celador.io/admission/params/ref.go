// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package params

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// syncTimeout is the time that a request waits for the informer of a paramKind to sync.
const syncTimeout = time.Second

var (
	errNoNamespace  = errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	errAnyNamespace = errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	errAmbiguous    = errors.New("paramRef.name and paramRef.selector are mutually exclusive")
	errNothing      = errors.New("one of name or selector must be provided")
	errNotFound     = errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
)

// A Ref is a compiled paramRef. It is immutable and safe for concurrent use.
type Ref struct {
	*v1.ParamRef
	selector labels.Selector
	// invalidSelector is the error of parsing the selector.
	invalidSelector error
}

// Compile returns the compiled form of a paramRef. The Ref keeps r, which must not be changed
// afterwards. An invalid selector is an error of Find.
func Compile(r *v1.ParamRef) *Ref {
	ref := &Ref{ParamRef: r}
	if r.Selector != nil {
		var parsed labels.Selector
		parsed, ref.invalidSelector = metav1.LabelSelectorAsSelector(r.Selector)
		if ref.invalidSelector == nil {
			ref.selector = &selector{parsed, parsed.String()}
		}
	}
	return ref
}

// A selector is a label selector whose text is built once, since listers look up cached lists by
// the text.
type selector struct {
	labels.Selector
	text string
}

// String implements fmt.Stringer.
func (s *selector) String() string { return s.text }

// Find returns the params for a request in the given namespace, which is empty for cluster-scoped
// objects. If there are none, it returns an error if parameterNotFoundAction is Deny, and an empty
// slice otherwise. It also returns an error if the paramRef does not fit the scope of the paramKind
// or of the request, or if the informer of kind does not sync within a second.
func (r *Ref) Find(ctx context.Context, lister Lister, kind *v1.ParamKind, namespace string) ([]*unstructured.Unstructured, error) {
	switch {
	case !lister.Namespaced():
		namespace = ""
	case r.Namespace != "":
		namespace = r.Namespace
	case namespace == "":
		return nil, errNoNamespace
	}
	if !synced(ctx, lister) {
		return nil, fmt.Errorf("paramKind kind `%v` not yet synced to use for admission", kind)
	}
	if !lister.Namespaced() && r.Namespace != "" {
		return nil, errAnyNamespace
	}
	found, err := r.find(ctx, lister, namespace)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && r.ParameterNotFoundAction != nil && *r.ParameterNotFoundAction == v1.DenyAction {
		return nil, errNotFound
	}
	return found, nil
}

func synced(ctx context.Context, lister Lister) bool {
	select {
	case <-lister.Synced():
		return true
	default:
	}
	waiting, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	select {
	case <-lister.Synced():
		return true
	case <-waiting.Done():
		return false
	}
}

func (r *Ref) find(ctx context.Context, lister Lister, namespace string) ([]*unstructured.Unstructured, error) {
	switch {
	case r.Name != "" && r.Selector != nil:
		return nil, errAmbiguous
	case r.Name != "":
		param, err := lister.Get(ctx, namespace, r.Name)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []*unstructured.Unstructured{param}, nil
	case r.invalidSelector != nil:
		return nil, r.invalidSelector
	case r.Selector != nil:
		return lister.List(namespace, r.selector)
	default:
		return nil, errNothing
	}
}
