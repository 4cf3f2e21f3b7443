// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// definitions returns definitions that strategies treat differently, and random ones.
func definitions(t *testing.T) map[string]*upstream.CustomResourceDefinition {
	t.Helper()
	manifests := map[string]string{
		"valid":                demo,
		"two versions":         manifest(none, object, object),
		"other schemas":        manifest(none, object, `{"type": "object"}`),
		"webhook":              manifest(`{"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": {"namespace": "a", "name": "b"}}}}`, object),
		"unknown strategy":     manifest(`{"strategy": "Magic"}`, object),
		"webhook without one":  manifest(`{"strategy": "Webhook"}`, object),
		"None with a webhook":  manifest(`{"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}`, object),
		"unknown format":       manifest(none, `{"type": "object", "properties": {"a": {"type": "string", "format": "odd"}}}`),
		"other unknown format": manifest(none, `{"type": "object", "properties": {"a": {"type": "string", "format": "odd"}, "b": {"type": "string", "format": "odder"}}}`),
		"set of objects":       manifest(none, `{"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object", "x-kubernetes-map-type": "atomic"}}}}`),
		"optionalOldSelf":      manifest(none, `{"type": "object", "x-kubernetes-validations": [{"rule": "true", "optionalOldSelf": true}]}`),
		"not structural":       manifest(none, `{"properties": {"a": {}}}`),
		"no schema":            manifest(none, `{}`),
		"no versions":          manifest(none),
		"default":              manifest(none, `{"type": "object", "properties": {"a": {"type": "string", "default": 1}}}`),
	}
	all := map[string]*upstream.CustomResourceDefinition{"empty": {}}
	for name, manifest := range manifests {
		all[name] = decode(t, manifest)
	}
	for _, definition := range fuzz(t, 40) {
		all[definition.Name] = definition
	}
	return all
}

// compare reports a difference between what Kubernetes' strategy did and what ours did. Kubernetes
// orders some warnings and errors as it happens to iterate over maps.
func compare(t *testing.T, what string, theirs, ours any) {
	t.Helper()
	if ourObject, ok := ours.(runtime.Object); ok {
		theirs, ours = part(theirs.(runtime.Object)), part(ourObject)
		if apiequality.Semantic.DeepEqual(theirs, ours) {
			return
		}
	}
	sorted := func(values any) any {
		if errs, ok := values.(field.ErrorList); ok {
			values = messages(errs)
		}
		if texts, ok := values.([]string); ok {
			return slices.Sorted(slices.Values(texts))
		}
		return values
	}
	if diff := cmp.Diff(sorted(theirs), sorted(ours)); diff != "" {
		t.Errorf("%s differs (-Kubernetes +Celador):\n%s", what, diff)
	}
}

func TestCreateStrategy(t *testing.T) {
	theirServer, ourServer, _ := servers(t, generic.UndecoratedStorage)
	theirs, ours := theirServer.store.CreateStrategy, ourServer.store.CreateStrategy
	compare(t, "scope", theirs.NamespaceScoped(), ours.NamespaceScoped())
	for name, definition := range definitions(t) {
		t.Run(name, func(t *testing.T) {
			ctx := testContext()
			their, our := theirServer.internal(definition), ourServer.internal(definition)
			theirs.PrepareForCreate(ctx, their)
			ours.PrepareForCreate(ctx, our)
			compare(t, "preparation", their, our)
			compare(t, "validation", theirs.Validate(ctx, their), ours.Validate(ctx, our))
			compare(t, "warnings", theirs.WarningsOnCreate(ctx, their), ours.WarningsOnCreate(ctx, our))
			theirs.Canonicalize(their)
			ours.Canonicalize(our)
			compare(t, "canonical form", their, our)
		})
	}
}

func TestUpdateStrategy(t *testing.T) {
	theirServer, ourServer, _ := servers(t, generic.UndecoratedStorage)
	theirs, ours := theirServer.store.UpdateStrategy, ourServer.store.UpdateStrategy
	ctx := testContext()
	compare(t, "scope", theirs.NamespaceScoped(), ours.NamespaceScoped())
	compare(t, "creation on update", theirs.AllowCreateOnUpdate(ctx), ours.AllowCreateOnUpdate(ctx))
	compare(t, "unconditional update", theirs.AllowUnconditionalUpdate(ctx), ours.AllowUnconditionalUpdate(ctx))
	forEachUpdate(t, func(t *testing.T, updated, old *upstream.CustomResourceDefinition) {
		theirOld, ourOld := theirServer.internal(old), ourServer.internal(old)
		their, our := theirServer.internal(updated), ourServer.internal(updated)
		theirs.PrepareForUpdate(ctx, their, theirOld)
		ours.PrepareForUpdate(ctx, our, ourOld)
		compare(t, "preparation", their, our)
		compare(t, "validation", theirs.ValidateUpdate(ctx, their, theirOld), ours.ValidateUpdate(ctx, our, ourOld))
		compare(t, "warnings", theirs.WarningsOnUpdate(ctx, their, theirOld), ours.WarningsOnUpdate(ctx, our, ourOld))
		theirs.Canonicalize(their)
		ours.Canonicalize(our)
		compare(t, "canonical form", their, our)
		compare(t, "old definition", theirOld, ourOld)
	})
}

// forEachUpdate calls test with pairs of definitions, the second of which is stored.
func forEachUpdate(t *testing.T, test func(t *testing.T, updated, old *upstream.CustomResourceDefinition)) {
	all := definitions(t)
	for name, definition := range all {
		olds := map[string]*upstream.CustomResourceDefinition{"itself": definition}
		for _, name := range []string{"valid", "unknown format", "set of objects", "not structural", "unknown strategy", "fuzzed-0"} {
			olds[name] = all[name]
		}
		for oldName, old := range olds {
			t.Run(name+" from "+oldName, func(t *testing.T) {
				old, updated := old.DeepCopy(), definition.DeepCopy()
				for _, definition := range []*upstream.CustomResourceDefinition{old, updated} {
					definition.Name, definition.Generation, definition.UID = "demos.example.com", 7, "uid"
					definition.DeletionTimestamp, definition.DeletionGracePeriodSeconds = nil, nil
				}
				test(t, updated, old)
			})
		}
	}
}

func TestStatusUpdates(t *testing.T) {
	theirServer, ourServer, _ := servers(t, generic.UndecoratedStorage)
	forEachUpdate(t, func(t *testing.T, updated, old *upstream.CustomResourceDefinition) {
		var results [2]runtime.Object
		var errs [2]error
		for i, s := range []server{theirServer, ourServer} {
			stored := s.store.NewFunc()
			existing := old.DeepCopy()
			existing.ResourceVersion = ""
			if err := s.store.Storage.Create(testContext(), s.key(existing.Name), s.internal(existing), stored, 0, false); err != nil {
				t.Fatal(err)
			}
			changed := updated.DeepCopy()
			changed.ResourceVersion = part(stored).ResourceVersion
			results[i], _, errs[i] = s.status.Update(testContext(), changed.Name, rest.DefaultUpdatedObjectInfo(s.internal(changed)), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
			if results[i] != nil {
				part(results[i]).ResourceVersion = ""
			}
			if err := s.store.Storage.Delete(testContext(), s.key(existing.Name), s.store.NewFunc(), nil, storage.ValidateAllObjectFunc, false, nil, storage.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, "error", causes(errs[0]), causes(errs[1]))
		if errs[0] == nil && errs[1] == nil {
			compare(t, "result", results[0], results[1])
		}
	})
}

// causes returns the messages of an API error, or of another error.
func causes(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return []string{fmt.Sprint(err)}
	}
	texts := []string{string(status.Status().Reason)}
	for _, cause := range status.Status().Details.Causes {
		texts = append(texts, fmt.Sprint(cause))
	}
	return texts
}

func TestStatusUpdatesDoNotCreate(t *testing.T) {
	theirServer, ourServer, _ := servers(t, generic.UndecoratedStorage)
	var errs [2]error
	for i, s := range []server{theirServer, ourServer} {
		_, _, errs[i] = s.status.Update(testContext(), "demos.example.com", rest.DefaultUpdatedObjectInfo(s.internal(decode(t, demo))), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
	}
	if !apierrors.IsNotFound(errs[1]) {
		t.Errorf("got error %v, want not found", errs[1])
	}
	compare(t, "error", fmt.Sprint(errs[0]), fmt.Sprint(errs[1]))
}

// TestTraits compares what discovery, the API's installer and server-side apply ask the storage
// for.
func TestTraits(t *testing.T) {
	theirs, ours, _ := servers(t, generic.UndecoratedStorage)
	compare(t, "short names", theirs.definitions.ShortNames(), ours.definitions.ShortNames())
	compare(t, "categories", theirs.definitions.Categories(), ours.definitions.Categories())
	compare(t, "singular name", theirs.definitions.GetSingularName(), ours.definitions.GetSingularName())
	compare(t, "scope", theirs.definitions.NamespaceScoped(), ours.definitions.NamespaceScoped())
	for what, pair := range map[string][2]any{
		"definitions": {theirs.definitions, ours.definitions},
		"status":      {theirs.status, ours.status},
	} {
		fields := func(storage any) map[string]string {
			texts := map[string]string{}
			for version, set := range storage.(rest.ResetFieldsStrategy).GetResetFields() {
				texts[string(version)] = set.String()
			}
			return texts
		}
		compare(t, "reset fields of "+what, fields(pair[0]), fields(pair[1]))
		// The installer offers the verbs and features whose interfaces a storage implements.
		for name, implements := range map[string]func(any) bool{
			"Creater":                 is[rest.Creater],
			"NamedCreater":            is[rest.NamedCreater],
			"Lister":                  is[rest.Lister],
			"Getter":                  is[rest.Getter],
			"Updater":                 is[rest.Updater],
			"Patcher":                 is[rest.Patcher],
			"Watcher":                 is[rest.Watcher],
			"GracefulDeleter":         is[rest.GracefulDeleter],
			"CollectionDeleter":       is[rest.CollectionDeleter],
			"MayReturnFullObject":     is[rest.MayReturnFullObjectDeleter],
			"TableConvertor":          is[rest.TableConvertor],
			"CategoriesProvider":      is[rest.CategoriesProvider],
			"ShortNamesProvider":      is[rest.ShortNamesProvider],
			"SingularNameProvider":    is[rest.SingularNameProvider],
			"Scoper":                  is[rest.Scoper],
			"StorageMetadata":         is[rest.StorageMetadata],
			"StorageVersionProvider":  is[rest.StorageVersionProvider],
			"ResetFieldsStrategy":     is[rest.ResetFieldsStrategy],
			"GroupVersionKind":        is[rest.GroupVersionKindProvider],
			"CorruptObjectDeleter":    is[rest.CorruptObjectDeleterProvider],
			"SubresourceObjectMeta":   is[rest.SubresourceObjectMetaPreserver],
			"GroupVersionAcceptor":    is[rest.GroupVersionAcceptor],
			"StandardStorage":         is[rest.StandardStorage],
			"TableConvertor and more": is[rest.Storage],
		} {
			compare(t, name+" of "+what, implements(pair[0]), implements(pair[1]))
		}
	}
}

func is[I any](storage any) bool {
	_, ok := storage.(I)
	return ok
}

// TestListsAndWatches reads through the watch cache and without it, with selectors.
func TestListsAndWatches(t *testing.T) {
	for name, decorator := range map[string]generic.StorageDecorator{"etcd": generic.UndecoratedStorage, "cache": genericregistry.StorageWithCacher()} {
		t.Run(name, func(t *testing.T) {
			_, ours, _ := servers(t, decorator)
			ready := func(context.Context) (bool, error) { return ours.store.ReadinessCheck() == nil, nil }
			if err := wait.PollUntilContextCancel(t.Context(), time.Millisecond, true, ready); err != nil {
				t.Fatal(err)
			}
			create := func(manifest string, edit func(*apiextensions.CustomResourceDefinition)) string {
				definition := decodeOurs(t, manifest)
				edit(definition)
				out := ours.store.NewFunc()
				if err := ours.store.Storage.Create(testContext(), ours.key(definition.Name), definition, out, 0, false); err != nil {
					t.Fatal(err)
				}
				return part(out).ResourceVersion
			}
			create(demo, func(d *apiextensions.CustomResourceDefinition) { d.Labels = map[string]string{"kind": "plain"} })
			version := create(expressive, func(d *apiextensions.CustomResourceDefinition) {
				d.Name, d.Labels = "others.example.com", map[string]string{"kind": "expressive"}
			})
			for _, selected := range []struct {
				label labels.Selector
				field fields.Selector
				want  []string
			}{
				{nil, nil, []string{"demos.example.com", "others.example.com"}},
				{labels.SelectorFromSet(labels.Set{"kind": "expressive"}), nil, []string{"others.example.com"}},
				{nil, fields.OneTermEqualSelector("metadata.name", "demos.example.com"), []string{"demos.example.com"}},
				{nil, fields.OneTermEqualSelector("metadata.name", "neither"), nil},
			} {
				options := &metainternalversion.ListOptions{LabelSelector: selected.label, FieldSelector: selected.field, ResourceVersion: version}
				list, err := ours.definitions.List(testContext(), options)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, item := range list.(*apiextensions.CustomResourceDefinitionList).Items {
					got = append(got, item.Name)
					if want := item.Name == "others.example.com"; want == item.Expressions.IsEmpty() {
						t.Errorf("%s: got expressions %v", item.Name, item.Expressions)
					}
				}
				if diff := cmp.Diff(selected.want, got); diff != "" {
					t.Errorf("list with %v: items differ (-want +got):\n%s", options, diff)
				}
			}
			watched, err := ours.definitions.Watch(testContext(), &metainternalversion.ListOptions{ResourceVersion: version, LabelSelector: labels.SelectorFromSet(labels.Set{"kind": "watched"})})
			if err != nil {
				t.Fatal(err)
			}
			defer watched.Stop()
			create(expressive, func(d *apiextensions.CustomResourceDefinition) { d.Name, d.Labels = "ignored.example.com", nil })
			create(expressive, func(d *apiextensions.CustomResourceDefinition) {
				d.Name, d.Labels = "watched.example.com", map[string]string{"kind": "watched"}
			})
			event := <-watched.ResultChan()
			// The watch cache shares encoded objects among watches.
			if shared, ok := event.Object.(runtime.CacheableObject); ok {
				event.Object = shared.GetObject()
			}
			definition, ok := event.Object.(*apiextensions.CustomResourceDefinition)
			if !ok || event.Type != watch.Added || definition.Name != "watched.example.com" || definition.Expressions.IsEmpty() {
				t.Errorf("got event %s of %v, want the definition with its expressions", event.Type, event.Object)
			}
		})
	}
}
