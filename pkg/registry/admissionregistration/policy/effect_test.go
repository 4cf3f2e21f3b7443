// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// storedList is the storage of a resource, which has only lists.
type storedList struct {
	rest.Lister
	list func(context.Context) (runtime.Object, error)
	// versions are the resource versions of the lists that were read.
	versions []string
}

// List implements rest.Lister.
func (l *storedList) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	l.versions = append(l.versions, options.ResourceVersion)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.list(ctx)
}

// listed returns the ListerGetter of a resource with one storedList.
func listed(list func(context.Context) (runtime.Object, error)) policy.ListerGetter {
	stored := &storedList{list: list}
	return func() rest.Lister { return stored }
}

// listing returns the ListerGetter of a resource with the objects of list.
func listing(list runtime.Object) policy.ListerGetter {
	return listed(func(context.Context) (runtime.Object, error) { return list, nil })
}

// failing returns the ListerGetter of a resource that cannot be listed.
func failing(err error) policy.ListerGetter {
	return listed(func(context.Context) (runtime.Object, error) { return nil, err })
}

// hanging returns the ListerGetter of a resource whose lists end only with their context.
func hanging() policy.ListerGetter {
	return listed(func(ctx context.Context) (runtime.Object, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
}

func validatingBindings(policies ...string) *admissionregistration.ValidatingAdmissionPolicyBindingList {
	list := &admissionregistration.ValidatingAdmissionPolicyBindingList{}
	for _, name := range policies {
		list.Items = append(list.Items, *validatingBinding(policyName(name)))
	}
	return list
}

func mutatingBindings(policies ...string) *admissionregistration.MutatingAdmissionPolicyBindingList {
	list := &admissionregistration.MutatingAdmissionPolicyBindingList{}
	for _, name := range policies {
		list.Items = append(list.Items, *mutatingBinding(policyName(name)))
	}
	return list
}

func validatingPolicyList(policies ...*admissionregistration.ValidatingAdmissionPolicy) *admissionregistration.ValidatingAdmissionPolicyList {
	list := &admissionregistration.ValidatingAdmissionPolicyList{}
	for _, p := range policies {
		list.Items = append(list.Items, *p)
	}
	return list
}

func mutatingPolicyList(policies ...*admissionregistration.MutatingAdmissionPolicy) *admissionregistration.MutatingAdmissionPolicyList {
	list := &admissionregistration.MutatingAdmissionPolicyList{}
	for _, p := range policies {
		list.Items = append(list.Items, *p)
	}
	return list
}

// Tables show what has no effect, also those without headers and of clients that go while a table
// is made.
func TestEffectInTables(t *testing.T) {
	for name, tc := range map[string]struct {
		kind   descriptor
		column string
		list   runtime.Object
		beside policy.ListerGetter
		off    bool // the gate of Singletons
		want   map[string]any
	}{
		"validating policies": {
			kind: policyKinds[0].descriptor, column: "Bound",
			list:   validatingPolicyList(validating(named("bound")), validating(named("twice")), validating(named("alone")), validating(named("none"), singleton)),
			beside: listing(validatingBindings("twice", "bound", "twice", "no-such-policy")),
			want:   map[string]any{"bound": "True", "twice": "True", "alone": "False", "none": "Singleton"},
		},
		"validating policies, gate off": {
			kind: policyKinds[0].descriptor, column: "Bound", off: true,
			list:   validatingPolicyList(validating(named("none"), singleton), validating(named("bound"), singleton)),
			beside: listing(validatingBindings("bound")),
			want:   map[string]any{"none": "False", "bound": "True"},
		},
		"mutating policies": {
			kind: policyKinds[1].descriptor, column: "Bound",
			list:   mutatingPolicyList(mutating(named("bound")), mutating(named("alone"))),
			beside: listing(mutatingBindings("bound")),
			want:   map[string]any{"bound": "True", "alone": "False"},
		},
		"one policy": {
			kind: policyKinds[0].descriptor, column: "Bound",
			list: validating(named("alone")), beside: listing(validatingBindings("other")),
			want: map[string]any{"alone": "False"},
		},
		"policies without bindings": {
			kind: policyKinds[1].descriptor, column: "Bound",
			list: mutatingPolicyList(mutating(named("alone"))), beside: listing(mutatingBindings()),
			want: map[string]any{"alone": "False"},
		},
		"bindings are not served": {
			kind: policyKinds[0].descriptor, column: "Bound",
			list: validatingPolicyList(validating(named("a")), validating(named("b"))), beside: notServed,
			want: map[string]any{"a": "<unknown>", "b": "<unknown>"},
		},
		"bindings cannot be read": {
			kind: policyKinds[1].descriptor, column: "Bound",
			list: mutatingPolicyList(mutating(named("a")), mutating(named("b"))), beside: failing(errors.New("not ready")),
			want: map[string]any{"a": "<unknown>", "b": "<unknown>"},
		},
		"bindings are not read in time": {
			kind: policyKinds[0].descriptor, column: "Bound",
			list: validatingPolicyList(validating(named("a"))), beside: hanging(),
			want: map[string]any{"a": "<unknown>"},
		},
		"validating bindings": {
			kind: bindingKinds[0], column: "PolicyFound",
			list: &admissionregistration.ValidatingAdmissionPolicyBindingList{Items: []admissionregistration.ValidatingAdmissionPolicyBinding{
				*validatingBinding(named("a"), policyName("demo")), *validatingBinding(named("b"), policyName("no-such-policy")),
			}},
			beside: listing(validatingPolicyList(validating(named("other")), validating(named("demo")))),
			want:   map[string]any{"a": "True", "b": "False"},
		},
		"mutating bindings": {
			kind: bindingKinds[1], column: "PolicyFound",
			list: &admissionregistration.MutatingAdmissionPolicyBindingList{Items: []admissionregistration.MutatingAdmissionPolicyBinding{
				*mutatingBinding(named("a"), policyName("demo")), *mutatingBinding(named("b"), policyName("no-such-policy")),
			}},
			beside: listing(mutatingPolicyList(mutating(named("demo")))),
			want:   map[string]any{"a": "True", "b": "False"},
		},
		"one binding": {
			kind: bindingKinds[0], column: "PolicyFound",
			list: validatingBinding(named("a"), policyName("demo")), beside: listing(validatingPolicyList()),
			want: map[string]any{"a": "False"},
		},
		"policies cannot be read": {
			kind: bindingKinds[1], column: "PolicyFound",
			list: mutatingBinding(named("a")), beside: failing(errors.New("not ready")),
			want: map[string]any{"a": "<unknown>"},
		},
		"no rows": {kind: policyKinds[0].descriptor, column: "Bound", list: validatingPolicyList(), beside: failing(errors.New("read for nothing")), want: map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ValidatingAdmissionPolicySingleton, !tc.off)
			resource, _ := tc.kind.storeBeside(t, tc.beside)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			table, err := resource.ConvertToTable(ctx, tc.list, &metav1.TableOptions{})
			if err != nil {
				t.Fatal(err)
			}
			at := columnNamed(table, tc.column)
			if at != len(table.ColumnDefinitions)-2 || table.ColumnDefinitions[at].Priority != 0 {
				t.Fatalf("column %s is not shown before the last one: %v", tc.column, table.ColumnDefinitions)
			}
			got := map[string]any{}
			for _, row := range table.Rows {
				got[row.Cells[0].(string)] = row.Cells[at]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.column, diff)
			}
			bare, err := resource.ConvertToTable(ctx, tc.list, &metav1.TableOptions{NoHeaders: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(withoutObjects(table).Rows, withoutObjects(bare).Rows); diff != "" || len(bare.ColumnDefinitions) > 0 {
				t.Errorf("without headers: got columns %v, rows (-with +without):\n%s", bare.ColumnDefinitions, diff)
			}
			var wantVersions []string
			if len(tc.want) > 0 {
				wantVersions = []string{"0", "0"} // one list for each table
			}
			if stored, served := tc.beside().(*storedList); served {
				if diff := cmp.Diff(wantVersions, stored.versions); diff != "" {
					t.Errorf("versions of the lists beside (-want +got):\n%s", diff)
				}
			}
		})
	}
}
