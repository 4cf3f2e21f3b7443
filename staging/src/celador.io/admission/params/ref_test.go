// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package params_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/params"
)

var (
	limits   = schema.GroupResource{Group: "example.com", Resource: "limits"}
	errStore = errors.New("storage is down")
)

// A kind is a params.Lister with the same objects in each namespace.
type kind struct {
	namespaced bool
	unsynced   bool
	// broken makes Get return errStore instead of a NotFound error.
	broken bool
}

func (k kind) Namespaced() bool { return k.namespaced }

func (k kind) Synced() <-chan struct{} {
	synced := make(chan struct{})
	if !k.unsynced {
		close(synced)
	}
	return synced
}

func (k kind) objects() cache.Indexer {
	all := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	namespaces := []string{""}
	if k.namespaced {
		namespaces = []string{"blue", "red"}
	}
	for _, namespace := range namespaces {
		for _, name := range []string{"a", "b", "c"} {
			object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Limit"}}
			object.SetNamespace(namespace)
			object.SetName(name)
			object.SetLabels(map[string]string{"tier": map[bool]string{true: "gold", false: "tin"}[name < "c"]})
			if err := all.Add(object); err != nil {
				panic(err)
			}
		}
	}
	return all
}

func (k kind) Get(_ context.Context, namespace, name string) (*unstructured.Unstructured, error) {
	object, ok, err := k.objects().GetByKey(cache.NewObjectName(namespace, name).String())
	switch {
	case err != nil:
		return nil, err
	case ok:
		return object.(*unstructured.Unstructured), nil
	case k.broken:
		return nil, errStore
	default:
		return nil, apierrors.NewNotFound(limits, name)
	}
}

func (k kind) List(namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	err := cache.ListAllByNamespace(k.objects(), namespace, selector, func(object any) {
		found = append(found, object.(*unstructured.Unstructured))
	})
	return found, err
}

func (k kind) find(ctx context.Context, ref *v1.ParamRef, namespace string) ([]string, error) {
	found, err := params.Compile(ref).Find(ctx, k, &v1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}, namespace)
	return keys(found), err
}

// keys returns the sorted keys of objects. Unlike other listers, kind lists objects in any order.
func keys(objects []*unstructured.Unstructured) []string {
	var all []string
	for _, object := range objects {
		all = append(all, cache.MetaObjectToName(object).String())
	}
	slices.Sort(all)
	return all
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func tier(values ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: values}}}
}

var (
	everything = &metav1.LabelSelector{}
	wrong      = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Resembles"}}}
	deny       = new(v1.DenyAction)
	allow      = new(v1.AllowAction)
)

func TestFind(t *testing.T) {
	const (
		unsynced    = "paramKind kind `&ParamKind{APIVersion:example.com/v1,Kind:Limit,}` not yet synced to use for admission"
		noNamespace = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
		anyOf       = "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
		notFound    = "no params found for policy binding with `Deny` parameterNotFoundAction"
	)
	namespaced, cluster := kind{namespaced: true}, kind{}
	for name, tc := range map[string]struct {
		kind      kind
		ref       v1.ParamRef
		namespace string
		want      []string
		wantErr   string
	}{
		"by name, of the request's namespace":  {namespaced, v1.ParamRef{Name: "a"}, "blue", []string{"blue/a"}, ""},
		"by name, of another namespace":        {namespaced, v1.ParamRef{Name: "a", Namespace: "red"}, "blue", []string{"red/a"}, ""},
		"by name, for a cluster-scoped object": {namespaced, v1.ParamRef{Name: "a", Namespace: "red"}, "", []string{"red/a"}, ""},
		"by name, of no namespace":             {namespaced, v1.ParamRef{Name: "a"}, "", nil, noNamespace},
		"by name, cluster-scoped":              {cluster, v1.ParamRef{Name: "a"}, "", []string{"a"}, ""},
		"by name, cluster-scoped, namespaced":  {cluster, v1.ParamRef{Name: "a"}, "blue", []string{"a"}, ""},
		"namespace of a cluster-scoped kind":   {cluster, v1.ParamRef{Name: "a", Namespace: "blue"}, "blue", nil, anyOf},

		"not found, denied":                {namespaced, v1.ParamRef{Name: "z", ParameterNotFoundAction: deny}, "blue", nil, notFound},
		"not found, allowed":               {namespaced, v1.ParamRef{Name: "z", ParameterNotFoundAction: allow}, "blue", nil, ""},
		"not found, no action":             {namespaced, v1.ParamRef{Name: "z"}, "blue", nil, ""},
		"not found in that namespace":      {namespaced, v1.ParamRef{Name: "a", Namespace: "green", ParameterNotFoundAction: deny}, "blue", nil, notFound},
		"not found, cluster-scoped":        {cluster, v1.ParamRef{Name: "z", ParameterNotFoundAction: deny}, "", nil, notFound},
		"found, denied otherwise":          {namespaced, v1.ParamRef{Name: "a", ParameterNotFoundAction: deny}, "blue", []string{"blue/a"}, ""},
		"nothing selected, denied":         {namespaced, v1.ParamRef{Selector: tier("lead"), ParameterNotFoundAction: deny}, "blue", nil, notFound},
		"nothing selected, allowed":        {namespaced, v1.ParamRef{Selector: tier("lead"), ParameterNotFoundAction: allow}, "blue", nil, ""},
		"nothing selected, no action":      {namespaced, v1.ParamRef{Selector: tier("lead")}, "blue", nil, ""},
		"nothing selected, cluster-scoped": {cluster, v1.ParamRef{Selector: tier("lead"), ParameterNotFoundAction: deny}, "", nil, notFound},

		"by selector":                    {namespaced, v1.ParamRef{Selector: tier("gold")}, "blue", []string{"blue/a", "blue/b"}, ""},
		"by selector, another namespace": {namespaced, v1.ParamRef{Selector: tier("gold"), Namespace: "red"}, "blue", []string{"red/a", "red/b"}, ""},
		"by selector, of no namespace":   {namespaced, v1.ParamRef{Selector: tier("gold")}, "", nil, noNamespace},
		"by selector, cluster-scoped":    {cluster, v1.ParamRef{Selector: tier("tin", "lead")}, "blue", []string{"c"}, ""},
		"everything":                     {namespaced, v1.ParamRef{Selector: everything}, "red", []string{"red/a", "red/b", "red/c"}, ""},
		"everything, cluster-scoped":     {cluster, v1.ParamRef{Selector: everything}, "", []string{"a", "b", "c"}, ""},
		"wrong selector":                 {namespaced, v1.ParamRef{Selector: wrong}, "blue", nil, `"Resembles" is not a valid label selector operator`},

		"name and selector":       {namespaced, v1.ParamRef{Name: "a", Selector: everything}, "blue", nil, "paramRef.name and paramRef.selector are mutually exclusive"},
		"name and wrong selector": {namespaced, v1.ParamRef{Name: "a", Selector: wrong}, "blue", nil, "paramRef.name and paramRef.selector are mutually exclusive"},
		"neither":                 {namespaced, v1.ParamRef{ParameterNotFoundAction: deny}, "blue", nil, "one of name or selector must be provided"},

		"unsynced":                               {kind{namespaced: true, unsynced: true}, v1.ParamRef{Name: "a"}, "blue", nil, unsynced},
		"unsynced, allowed when not found":       {kind{unsynced: true}, v1.ParamRef{Name: "z", ParameterNotFoundAction: allow}, "", nil, unsynced},
		"unsynced, of no namespace":              {kind{namespaced: true, unsynced: true}, v1.ParamRef{Name: "a"}, "", nil, noNamespace},
		"unsynced, namespace of a cluster-scope": {kind{unsynced: true}, v1.ParamRef{Name: "a", Namespace: "blue"}, "blue", nil, unsynced},
		"unsynced, wrong selector":               {kind{unsynced: true}, v1.ParamRef{Selector: wrong}, "", nil, unsynced},

		"cannot be told":                         {kind{namespaced: true, broken: true}, v1.ParamRef{Name: "z"}, "blue", nil, "storage is down"},
		"cannot be told, allowed when not found": {kind{broken: true}, v1.ParamRef{Name: "z", ParameterNotFoundAction: allow}, "", nil, "storage is down"},
		"cached":                                 {kind{broken: true}, v1.ParamRef{Name: "a"}, "", []string{"a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := tc.kind.find(t.Context(), &tc.ref, tc.namespace)
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("params (-want +got):\n%s", diff)
				}
				if text(err) != tc.wantErr {
					t.Errorf("error is %q, want %q", text(err), tc.wantErr)
				}
			})
		})
	}
}

// A late kind syncs when its channel is closed.
type late struct {
	kind
	synced chan struct{}
}

func (l late) Synced() <-chan struct{} { return l.synced }

func TestFindWaits(t *testing.T) {
	const never = time.Hour
	for name, tc := range map[string]struct {
		synced, caller, want time.Duration
		found                bool
	}{
		"synced in time":  {900 * time.Millisecond, never, 900 * time.Millisecond, true},
		"synced too late": {1100 * time.Millisecond, never, time.Second, false},
		"caller cancels":  {900 * time.Millisecond, 200 * time.Millisecond, 200 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := late{kind{}, make(chan struct{})}
				ctx, cancel := context.WithCancel(t.Context())
				begin := time.Now()
				time.AfterFunc(tc.synced, func() { close(l.synced) })
				time.AfterFunc(tc.caller, cancel)
				found, err := params.Compile(&v1.ParamRef{Name: "a"}).Find(ctx, l, &v1.ParamKind{}, "")
				if got := len(found) == 1; got != tc.found || got != (err == nil) {
					t.Errorf("found %v, %v", found, err)
				}
				if waited := time.Since(begin); waited != tc.want {
					t.Errorf("answered after %v, want %v", waited, tc.want)
				}
				cancel()
			})
		})
	}
}
