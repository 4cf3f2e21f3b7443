// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/registry/rest"

	"celador.io/apiserver/pkg/admission/policyvalidation"
)

// maxLookup bounds how long a table waits for the objects of another resource.
const maxLookup = time.Second

// A ListerGetter returns the storage of a resource, or nil if the server does not serve the
// resource.
type ListerGetter func() rest.Lister

// errNotServed is the error of a lookup in a resource that the server does not serve.
var errNotServed = errors.New("the resource is not served")

// namesIn lists the objects of a resource and returns the set of names that name extracts from
// them, such as the policyNames of bindings. For the version "0" it lists what the watch cache
// holds, and for the empty version what etcd holds.
func namesIn[T APIObject](ctx context.Context, resource ListerGetter, version string, name func(T) string) (sets.Set[string], error) {
	lister := resource()
	if lister == nil {
		return nil, errNotServed
	}
	list, err := lister.List(ctx, &internalversion.ListOptions{ResourceVersion: version})
	if err != nil {
		return nil, err
	}
	found := sets.New[string]()
	return found, meta.EachListItem(list, func(obj runtime.Object) error {
		found.Insert(name(obj.(T)))
		return nil
	})
}

// BoundPolicies tells which policies of a kind are bound. Safe for concurrent use.
type BoundPolicies[Policy APIObject] struct {
	// takesEffectAlone reports whether a policy takes effect without a binding.
	takesEffectAlone func(Policy) bool
	bound            policyvalidation.BoundPolicyNames
}

// PoliciesBoundBy returns the policies to which the objects of bindings refer.
func (k BindingDescriptor[Binding, Policy, Spec, PolicySpec, External, ExternalPolicy]) PoliciesBoundBy(bindings ListerGetter) BoundPolicies[Policy] {
	return BoundPolicies[Policy]{
		func(policy Policy) bool { return k.policies.TakesEffectAlone(k.policy(policy)) },
		func(ctx context.Context, version string) (sets.Set[string], error) {
			return namesIn(ctx, bindings, version, k.policyName)
		},
	}
}

// column returns the column that shows whether a policy is bound.
func (b BoundPolicies[Policy]) column() lookupColumn[Policy] {
	return lookupColumn[Policy]{
		metav1.TableColumnDefinition{Name: "Bound", Type: "string", Description: "Whether a binding refers to the policy, without which the policy has no effect; Singleton if the policy needs none"},
		func(ctx context.Context) (sets.Set[string], error) { return b.bound(ctx, "0") },
		func(policy Policy, bound sets.Set[string]) string {
			if b.takesEffectAlone(policy) {
				return "Singleton"
			}
			return condition(bound.Has(policy.GetName()))
		},
	}
}

// policyFoundColumn returns the column that shows whether the policy of a binding exists.
func (k BindingDescriptor[Binding, Policy, Spec, PolicySpec, External, ExternalPolicy]) policyFoundColumn(policies ListerGetter) lookupColumn[Binding] {
	return lookupColumn[Binding]{
		metav1.TableColumnDefinition{Name: "PolicyFound", Type: "string", Description: "Whether the policy exists, without which the binding has no effect"},
		func(ctx context.Context) (sets.Set[string], error) {
			return namesIn(ctx, policies, "0", Policy.GetName)
		},
		func(binding Binding, existing sets.Set[string]) string {
			return condition(existing.Has(k.policyName(binding)))
		},
	}
}

// condition returns "True" or "False", the values of metav1.ConditionStatus.
func condition(met bool) string {
	if met {
		return string(metav1.ConditionTrue)
	}
	return string(metav1.ConditionFalse)
}

// A lookupColumn is a column whose cells depend on another resource of the same server.
type lookupColumn[T APIObject] struct {
	definition metav1.TableColumnDefinition
	// find returns names from the other resource. It is called once for each table.
	find func(context.Context) (sets.Set[string], error)
	cell func(T, sets.Set[string]) string
}

// lookupTable is a table with a lookupColumn before its last column, the age.
type lookupTable[T APIObject] struct {
	rest.TableConvertor
	column lookupColumn[T]
}

// ConvertToTable implements rest.TableConvertor. It adds the lookupColumn. If the other resource,
// on which the cells of this column depend, cannot be read, they show that the value is unknown.
func (t lookupTable[T]) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	table, err := t.TableConvertor.ConvertToTable(ctx, obj, options)
	if err != nil {
		return nil, err
	}
	if last := len(table.ColumnDefinitions) - 1; last >= 0 { // the request wants headers
		// The definitions are copied, because all tables share them.
		table.ColumnDefinitions = slices.Insert(slices.Clone(table.ColumnDefinitions), last, t.column.definition)
	}
	if len(table.Rows) == 0 {
		return table, nil
	}
	// If several clients watch the resource, they share the row that is made for one of them. The
	// lookup must not end when this client ends its request, because the others need the row, too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxLookup)
	defer cancel()
	found, err := t.column.find(ctx)
	if err != nil && !errors.Is(err, errNotServed) {
		utilruntime.HandleErrorWithContext(ctx, err, "A column of a table is unknown", "column", t.column.definition.Name)
	}
	for i := range table.Rows {
		row, cell := &table.Rows[i], unknown
		if err == nil {
			cell = t.column.cell(row.Object.Object.(T), found)
		}
		row.Cells = slices.Insert(row.Cells, len(row.Cells)-1, any(cell))
	}
	return table, nil
}
