// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	upstreamv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/params"
	v1 "celador.io/api/admissionregistration/v1"
)

// paramRefs returns all kinds of references to gold and tin objects named a, b and c.
func paramRefs() []*v1.ParamRef {
	var refs []*v1.ParamRef
	for _, name := range []string{"", "a", "z"} {
		for _, namespace := range []string{"", "red", "green"} {
			for _, selector := range []*metav1.LabelSelector{
				nil, {}, {MatchLabels: map[string]string{"gold": "yes"}}, {MatchLabels: map[string]string{"gold": "no"}},
				{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "gold", Operator: "Resembles"}}},
			} {
				for _, action := range []*v1.ParameterNotFoundActionType{nil, new(v1.AllowAction), new(v1.DenyAction)} {
					refs = append(refs, &v1.ParamRef{Name: name, Namespace: namespace, Selector: selector, ParameterNotFoundAction: action})
				}
			}
		}
	}
	return refs
}

// Kubernetes' own code finds the same params for every paramRef, or returns the same error.
func TestParamsAreThoseOfUpstream(t *testing.T) {
	for name, tc := range map[string]struct {
		scope metav1.APIResource
		verb  string
		err   error
	}{
		"namespaced":                         {scope: namespacedLimits},
		"cluster-scoped":                     {scope: clusterLimits},
		"namespaced, unsynced":               {namespacedLimits, "list", apierrors.NewForbidden(limits.GroupResource(), "", errors.New("no"))},
		"cluster-scoped, unsynced":           {clusterLimits, "list", apierrors.NewInternalError(errors.New("storage is down"))},
		"namespaced, server is broken":       {namespacedLimits, "get", apierrors.NewInternalError(errors.New("storage is down"))},
		"cluster-scoped, server is broken":   {clusterLimits, "get", errors.New("connection refused")},
		"cluster-scoped, server says no":     {clusterLimits, "get", apierrors.NewForbidden(limits.GroupResource(), "z", errors.New("no"))},
		"namespaced, server finds it odd":    {namespacedLimits, "get", apierrors.NewInvalid(limitKind.GroupKind(), "z", nil)},
		"namespaced, kind is not there then": {namespacedLimits, "get", apierrors.NewNotFound(limits.GroupResource(), "")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				namespaces, scope := []string{"blue", "red"}, meta.RESTScopeNamespace
				if !tc.scope.Namespaced {
					namespaces, scope = []string{""}, meta.RESTScopeRoot
				}
				var objects []runtime.Object
				for _, namespace := range namespaces {
					objects = append(objects, limit(namespace, "a", "gold"), limit(namespace, "b"), limit(namespace, "c", "gold"))
				}
				s, source := started(t, objects...)
				s.serve(limits.GroupVersion(), tc.scope)
				if tc.verb != "" {
					s.set(func() { s.errs[tc.verb] = tc.err })
				}
				informer := dynamicinformer.NewFilteredDynamicInformer(s, limits, metav1.NamespaceAll, 0,
					cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, nil)
				go informer.Informer().RunWithContext(t.Context())
				k := source.Open(limitKind)
				defer k.Close()
				lister, err := k.Lister(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				paramKind := &v1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}
				for _, ref := range paramRefs() {
					for _, namespace := range []string{"", "blue", "green"} {
						want, wantErr := upstream(s, informer, scope, ref, namespace)
						got, err := params.Compile(ref).Find(t.Context(), lister, paramKind, namespace)
						if diff := cmp.Diff(want, names(got)); diff != "" || text(err) != text(wantErr) {
							t.Errorf("%v for namespace %q: error is %q, upstream's is %q, params (-upstream +ours):\n%s", ref, namespace, text(err), text(wantErr), diff)
						}
					}
				}
			})
		})
	}
}

// upstream returns the params that Kubernetes' code finds.
func upstream(s *server, informer informers.GenericInformer, scope meta.RESTScope, ref *v1.ParamRef, namespace string) ([]string, error) {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(limitKind, scope)
	found, err := generic.CollectParams(&upstreamv1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}, informer, scope, &upstreamv1.ParamRef{
		Name:                    ref.Name,
		Namespace:               ref.Namespace,
		Selector:                ref.Selector,
		ParameterNotFoundAction: (*upstreamv1.ParameterNotFoundActionType)(ref.ParameterNotFoundAction),
	}, namespace, s, mapper)
	var all []*unstructured.Unstructured
	for _, object := range found {
		all = append(all, object.(*unstructured.Unstructured))
	}
	sorted := names(all)
	slices.Sort(sorted)
	return sorted, err
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
