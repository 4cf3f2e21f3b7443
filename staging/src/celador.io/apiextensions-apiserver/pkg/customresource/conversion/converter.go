// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/panics"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
)

// A Converter converts custom resources of one kind. It is immutable and safe for concurrent use.
// When an entry of spec.conversion.converters is first used, its rules are compiled; later
// conversions take no locks.
type Converter struct {
	kind schema.GroupKind
	// chains holds, for each pair of versions, the compiled converters that lead from one to the
	// other.
	chains map[pair]plannedChain
	// changes says what the chains may change in metadata.
	changes map[pair]metadataChanges
	// metadata converts metadata alone, for ConvertMetadata. It has only the chains that may change
	// metadata.
	metadata *Converter
}

// A lazyPlan returns the plan of an entry of spec.conversion.converters, which is its compiled
// form. It compiles the entry on the first call. It is safe for concurrent use.
type lazyPlan func() (*plan, *Error)

// A plannedChain holds the plans of the entries of spec.conversion.converters that lead from one
// version to another.
type plannedChain struct {
	plans []lazyPlan
	// err says why there is no chain.
	err error
}

var (
	errNoSchema = errors.New("a version has no structural schema")
	errInternal = errors.New("internal error")
)

// New returns the converter of a CRDSpec. An object is converted along the shortest chain of
// converters from its version to another. It cannot be converted if there is no chain, or several
// that are the shortest; Validate reports such pairs of versions.
func New(spec *CRDSpec) *Converter {
	versions := map[string]*typedVersion{}
	for _, v := range spec.Versions {
		versions[v.Name] = newTypedVersion(v, spec.ClusterScoped)
	}
	tables := newTables(spec.Tables)
	g := newGraph(spec)
	plans, metadataPlans, each := map[pair]lazyPlan{}, map[pair]lazyPlan{}, map[pair]metadataChanges{}
	for p, index := range g.converters {
		planned := func(onlyMetadata bool) lazyPlan {
			return sync.OnceValues(func() (*plan, *Error) {
				return newPlan(versions[p.from], versions[p.to], tables, &spec.Converters[index], index, onlyMetadata)
			})
		}
		plans[p], metadataPlans[p], each[p] = planned(false), planned(true), metadataChangesOf(&spec.Converters[index])
	}
	c := &Converter{kind: spec.Kind, chains: map[pair]plannedChain{}, changes: map[pair]metadataChanges{}}
	c.metadata = &Converter{kind: spec.Kind, chains: map[pair]plannedChain{}}
	for _, from := range g.versions {
		found := g.chains(from)
		for _, to := range g.versions {
			if from == to {
				continue
			}
			p := pair{from, to}
			c.chains[p] = newPlannedChain(found[to], plans)
			if c.chains[p].err == nil {
				var metadata plannedChain
				c.changes[p], metadata.plans = metadataChangesAlong(found[to][0], each, plans, metadataPlans)
				c.metadata.chains[p] = metadata
			}
		}
	}
	return c
}

// newPlannedChain returns the plans along a chain. If there is no chain, or if there are several,
// the result has an error.
func newPlannedChain(chains []chain, plans map[pair]lazyPlan) plannedChain {
	switch len(chains) {
	case 0:
		return plannedChain{err: errors.New("spec.conversion.converters has no converter, and no chain of converters, for these versions")}
	case 1:
		var r plannedChain
		for i, from := range chains[0][:len(chains[0])-1] {
			r.plans = append(r.plans, plans[pair{from, chains[0][i+1]}])
		}
		return r
	default:
		return plannedChain{err: fmt.Errorf("spec.conversion.converters has several shortest chains of converters: %s and %s", chains[0], chains[1])}
	}
}

// Convert returns the object in another version. It does not change in. The result shares values
// with in: a caller that changes one must not use the other, or deep-copy it first. If the object
// already has the version, Convert returns in itself.
//
// The result still has the fields of in that the other version does not specify; the caller prunes
// them. Converters in the middle of a chain read pruned objects. Errors have the type *Error.
// Convert does not panic.
func (c *Converter) Convert(ctx context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	return c.convert(ctx, in, toVersion, nil)
}

// convert converts an object. part is nil for a whole object.
func (c *Converter) convert(ctx context.Context, in *unstructured.Unstructured, toVersion string, part *part) (_ *unstructured.Unstructured, err error) {
	gvk := in.GroupVersionKind()
	if gvk.Version == toVersion {
		return in, nil
	}
	fail := func(e *Error) error {
		e.Kind, e.Namespace, e.Name = c.kind.Kind, in.GetNamespace(), in.GetName()
		return e
	}
	defer func() {
		if r := recover(); r != nil {
			panics.Record(panics.Conversion, r, "kind", c.kind, "namespace", in.GetNamespace(), "name", in.GetName(), "from", gvk.Version, "to", toVersion)
			err = fail(&Error{Reason: ReasonInternal, From: gvk.Version, To: toVersion, Err: fmt.Errorf("%w: panic: %v", errInternal, r)})
		}
	}()
	if gvk.GroupKind() != c.kind {
		return nil, fail(&Error{Reason: ReasonPath, From: gvk.Version, To: toVersion, Err: fmt.Errorf("the object is a %s", gvk.GroupKind())})
	}
	chain, ok := c.chains[pair{gvk.Version, toVersion}]
	if !ok {
		chain.err = errors.New("the CustomResourceDefinition does not have both versions")
	}
	if chain.err != nil {
		return nil, fail(&Error{Reason: ReasonPath, From: gvk.Version, To: toVersion, Err: chain.err})
	}

	object := in.Object
	budget := uint64(maxObjectCost)
	var results ruleresult.Assigner
	for i, lazy := range chain.plans {
		plan, planErr := lazy()
		if planErr != nil {
			copied := *planErr
			return nil, fail(&copied)
		}
		conversion := newConversion(plan, object, c.gv(plan.to.name), budget, &results, part)
		converted, ruleErr := conversion.run(ctx)
		if ruleErr != nil {
			ruleErr.From, ruleErr.To = plan.from.name, plan.to.name
			return nil, fail(ruleErr)
		}
		if i < len(chain.plans)-1 {
			converted = plan.prune(converted)
			part.next(ctx, conversion)
		}
		object, budget = converted, conversion.budget
	}
	return &unstructured.Unstructured{Object: object}, nil
}

func (c *Converter) gv(version string) string {
	return schema.GroupVersion{Group: c.kind.Group, Version: version}.String()
}
