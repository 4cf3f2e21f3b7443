// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// A deletion is a request, with the stored UID and resource version where they are "stored".
type deletion struct {
	name                 string
	uid, resourceVersion string
	dryRun, noOptions    bool
	validate             rest.ValidateObjectFunc
}

// options returns the options of the request.
func (d deletion) options(stored *upstream.CustomResourceDefinition) *metav1.DeleteOptions {
	if d.noOptions {
		return nil
	}
	options := &metav1.DeleteOptions{}
	if d.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	pick := func(wanted, stored string) string {
		if wanted == "stored" {
			return stored
		}
		return wanted
	}
	if d.uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: new(types.UID(pick(d.uid, string(stored.UID))))}
	}
	if d.resourceVersion != "" {
		if options.Preconditions == nil {
			options.Preconditions = &metav1.Preconditions{}
		}
		options.Preconditions.ResourceVersion = new(pick(d.resourceVersion, stored.ResourceVersion))
	}
	return options
}

// TestDeletion sends the same deletions to both servers, and compares results, errors, and what is
// left.
func TestDeletion(t *testing.T) {
	refuse := func(err error) rest.ValidateObjectFunc {
		return func(context.Context, runtime.Object) error { return err }
	}
	const name = "demos.example.com"
	tests := []struct {
		name       string
		finalizers []string
		requests   []deletion
	}{
		{name: "once", requests: []deletion{{name: name}}},
		{name: "twice", requests: []deletion{{name: name}, {name: name}}},
		{name: "unknown", requests: []deletion{{name: "unknown"}}},
		{name: "without options", requests: []deletion{{name: name, noOptions: true}, {name: name, noOptions: true}}},
		{name: "right UID", requests: []deletion{{name: name, uid: "stored"}}},
		{name: "wrong UID", requests: []deletion{{name: name, uid: "other"}, {name: name}, {name: name, uid: "other"}}},
		{name: "right resource version", requests: []deletion{{name: name, resourceVersion: "stored"}, {name: name, resourceVersion: "stored"}}},
		{name: "wrong resource version", requests: []deletion{{name: name, resourceVersion: "1"}}},
		{name: "wrong resource version of the right UID", requests: []deletion{{name: name, uid: "stored", resourceVersion: "1"}}},
		{name: "wrong UID and resource version", requests: []deletion{{name: name, uid: "other", resourceVersion: "1"}}},
		{name: "dry run", requests: []deletion{{name: name, dryRun: true}, {name: name}, {name: name, dryRun: true}}},
		{name: "finalizer of a client", finalizers: []string{"example.com/demo"}, requests: []deletion{{name: name}, {name: name}}},
		{name: "finalizer already there", finalizers: []string{upstream.CustomResourceCleanupFinalizer}, requests: []deletion{{name: name}, {name: name}}},
		{name: "forbidden", requests: []deletion{{name: name, validate: refuse(apierrors.NewForbidden(upstream.Resource("customresourcedefinitions"), name, errors.New("policy")))}}},
		{name: "failing admission", requests: []deletion{{name: name, validate: refuse(errors.New("no answer"))}}},
		{name: "failing admission of the second", requests: []deletion{{name: name}, {name: name, validate: refuse(errors.New("no answer"))}}},
	}
	theirs, ours, _ := servers(t, generic.UndecoratedStorage)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var outcomes [2][]string
			for i, s := range []server{theirs, ours} {
				outcomes[i] = s.delete(t, name, test.finalizers, test.requests)
			}
			compare(t, "outcome", strings.Join(outcomes[0], "\n"), strings.Join(outcomes[1], "\n"))
		})
	}
}

// delete creates a CustomResourceDefinition, sends the requests, and returns what they and the
// reads after them yield.
func (s server) delete(t *testing.T, name string, finalizers []string, requests []deletion) []string {
	t.Helper()
	definition := decode(t, demo)
	definition.Finalizers = finalizers
	created, err := s.definitions.Create(testContext(), s.internal(definition), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stored := part(created)
	uid := stored.UID
	describe := func(what string, obj runtime.Object, err error) string {
		version := stored.ResourceVersion
		if definition := part(obj); definition != nil {
			copied := definition.DeepCopy()
			copied.UID, copied.ResourceVersion, copied.CreationTimestamp = "", "", metav1.Time{}
			if copied.DeletionTimestamp != nil {
				copied.DeletionTimestamp = &metav1.Time{}
			}
			for i := range copied.Status.Conditions {
				copied.Status.Conditions[i].LastTransitionTime = metav1.Time{}
			}
			if copied.DeletionGracePeriodSeconds != nil {
				what += fmt.Sprintf(", grace period %d", *copied.DeletionGracePeriodSeconds)
				copied.DeletionGracePeriodSeconds = nil
			}
			what += fmt.Sprintf(": %+v %+v", copied.ObjectMeta, copied.Status)
		} else if obj != nil {
			what += fmt.Sprintf(": %T", obj)
		}
		text := fmt.Sprintf("%s, error %v %s", what, err, apierrors.ReasonForError(err))
		return strings.NewReplacer(string(uid), "UID", "ResourceVersion in object meta: "+version, "ResourceVersion in object meta: VERSION", s.prefix, "PREFIX").Replace(text)
	}
	var outcome []string
	for _, request := range requests {
		validate := request.validate
		if validate == nil {
			validate = rest.ValidateAllObjectFunc
		}
		deleted, immediately, err := s.definitions.Delete(testContext(), request.name, validate, request.options(stored))
		outcome = append(outcome, describe(fmt.Sprintf("deleted at once: %t", immediately), deleted, err))
		read, err := s.definitions.Get(testContext(), name, &metav1.GetOptions{})
		outcome = append(outcome, describe("read", read, err))
		if definition := part(read); err == nil && definition != nil {
			stored = definition
		}
	}
	if err := s.store.Storage.Delete(testContext(), s.key(name), s.store.NewFunc(), nil, storage.ValidateAllObjectFunc, false, nil, storage.DeleteOptions{}); err != nil && !storage.IsNotFound(err) {
		t.Fatal(err)
	}
	return outcome
}

// TestDeletionKeepsExpressions marks a CustomResourceDefinition with expressions, whose admission
// sees them.
func TestDeletionKeepsExpressions(t *testing.T) {
	_, ours, _ := servers(t, generic.UndecoratedStorage)
	definition := decodeOurs(t, expressive)
	if err := ours.store.Storage.Create(testContext(), ours.key(definition.Name), definition.DeepCopy(), ours.store.NewFunc(), 0, false); err != nil {
		t.Fatal(err)
	}
	admitted := false
	marked, immediately, err := ours.definitions.Delete(testContext(), definition.Name, func(_ context.Context, obj runtime.Object) error {
		seen, ok := obj.(*apiextensions.CustomResourceDefinition)
		admitted = ok && !seen.Expressions.IsEmpty()
		return nil
	}, &metav1.DeleteOptions{})
	if err != nil || immediately {
		t.Fatalf("got error %v, deleted at once: %t", err, immediately)
	}
	if !admitted {
		t.Error("admission did not see the expressions")
	}
	compare(t, "expressions", any(definition.Expressions), any(marked.(*apiextensions.CustomResourceDefinition).Expressions))
}
