// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	etcdtesting "k8s.io/apiserver/pkg/storage/etcd3/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/registry/admissionregistration/policystatus"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// store returns storage in an etcd of its own.
func (k kind) store(t *testing.T) (storage, *policystatus.REST) {
	t.Helper()
	_, config := etcdtesting.NewUnsecuredEtcd3TestClientServer(t)
	config.Codec = scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion)
	resource, status, err := k.storage(generic.RESTOptions{
		StorageConfig:  config.ForResource(schema.GroupResource{}),
		ResourcePrefix: "policies",
		Decorator:      generic.UndecoratedStorage,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(resource.Destroy)
	return resource, status
}

// A write of the spec has the status as before, and the other way round.
func TestSpecAndStatusAreApart(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			resource, status := k.store(t)
			update := func(to rest.Updater, policy runtime.Object) (runtime.Object, error) {
				const create = true // as server-side apply has it
				updated, _, err := to.Update(cluster(), "demo", rest.DefaultUpdatedObjectInfo(policy), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, create, &metav1.UpdateOptions{})
				return updated, err
			}
			if _, err := update(status, k.policy(t, `{"name": "demo"}`, k.rules, observed)); !apierrors.IsNotFound(err) {
				t.Errorf("status of no policy: got error %v, want not found", err)
			}
			if _, err := status.Get(cluster(), "demo", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("reading the status of no policy: got error %v, want not found", err)
			}
			current, err := resource.Create(cluster(), k.policy(t, `{"name": "demo"}`, k.rules, observed), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			expect := func(step string, generation int64, rules, status string) {
				t.Helper()
				want, got := content(t, k.policy(t, `{}`, rules, status)), content(t, current)
				for _, part := range []string{"spec", "status"} {
					if diff := cmp.Diff(want[part], got[part]); diff != "" {
						t.Errorf("%s after %s (-want +got):\n%s", part, step, diff)
					}
				}
				if got := current.(metav1.Object).GetGeneration(); got != generation {
					t.Errorf("after %s: generation %d, want %d", step, got, generation)
				}
			}
			expect("creation", 1, k.rules, `{}`)

			const other = `{"observedGeneration": 1}`
			for _, step := range []struct {
				name                 string
				to                   rest.Updater
				rules, status        string
				wantGeneration       int64
				wantRules, wantState string
			}{
				{"a status write", status, k.others, observed, 1, k.rules, observed},
				{"a spec write", resource, k.others, other, 2, k.others, observed},
				{"another status write", status, k.rules, other, 2, k.others, other},
			} {
				sent := k.policy(t, `{"name": "demo"}`, step.rules, step.status)
				meta := current.(metav1.Object)
				sent.(metav1.Object).SetUID(meta.GetUID())
				sent.(metav1.Object).SetResourceVersion(meta.GetResourceVersion())
				if current, err = update(step.to, sent); err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
				expect(step.name, step.wantGeneration, step.wantRules, step.wantState)
				for _, from := range []rest.Getter{resource, status} {
					stored, err := from.Get(cluster(), "demo", &metav1.GetOptions{})
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(current, stored); diff != "" {
						t.Errorf("stored by %s (-answered +stored):\n%s", step.name, diff)
					}
				}
			}
		})
	}
}

// The subresource is one of the resource: it has the same kind and table, and no use
// apart.
func TestSubresource(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			resource, status := k.store(t)
			if diff := cmp.Diff(resource.New(), status.New()); diff != "" {
				t.Errorf("new object (-resource +status):\n%s", diff)
			}
			table := func(of rest.TableConvertor) *metav1.Table {
				got, err := of.ConvertToTable(context.Background(), k.policy(t, stored, k.rules, observed), &metav1.TableOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			if diff := cmp.Diff(table(resource), table(status)); diff != "" || len(table(status).Rows) != 1 {
				t.Errorf("table (-resource +status):\n%s", diff)
			}
			for name, fields := range map[string]struct{ of, want rest.ResetFieldsStrategy }{"resource": {resource, k.resource}, "status": {status, k.status}} {
				for version, want := range fields.want.GetResetFields() {
					if got := fields.of.GetResetFields()[version]; got == nil || !got.Equals(want) {
						t.Errorf("%s: writes of the %s ignore %v, want %v", version, name, got, want)
					}
				}
			}
			if _, deletes := any(status).(rest.GracefulDeleter); deletes {
				t.Error("the status can be deleted")
			}
			if _, lists := any(status).(rest.Lister); lists {
				t.Error("statuses can be listed")
			}
			status.Destroy()
			if _, err := resource.Create(cluster(), k.policy(t, `{"name": "demo"}`, k.rules, `{}`), rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
				t.Errorf("after the end of the subresource: %v", err)
			}
		})
	}
}

func TestAvailableColumn(t *testing.T) {
	condition := func(name, status string) string {
		return `{"type": "` + name + `", "status": "` + status + `", "reason": "Some", "message": "", "lastTransitionTime": null}`
	}
	checked := condition("TypeChecked", "True")
	for _, k := range kinds {
		resource, _ := k.store(t)
		for name, tc := range map[string]struct{ conditions, want string }{
			"no condition":      {want: "<unknown>"},
			"another condition": {checked, "<unknown>"},
			"available":         {checked + ", " + condition("Available", "True"), "True"},
			"not available":     {condition("Available", "False") + ", " + checked, "False"},
			"undecided":         {condition("Available", "Unknown"), "Unknown"},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				table, err := resource.ConvertToTable(t.Context(), k.policy(t, stored, k.rules, `{"conditions": [`+tc.conditions+`]}`), nil)
				if err != nil {
					t.Fatal(err)
				}
				for i, column := range table.ColumnDefinitions {
					if column.Name == "Available" {
						if got := table.Rows[0].Cells[i]; got != tc.want {
							t.Errorf("got %v, want %s", got, tc.want)
						}
						return
					}
				}
				t.Errorf("there is no such column: %v", table.ColumnDefinitions)
			})
		}
	}
}
