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
	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
)

// A Converter converts custom resources of one kind. It is immutable and safe for concurrent use. It plans the rules of
// a converter when it converts the first object with them; later conversions take no locks.
type Converter struct {
	kind schema.GroupKind
	// chains holds the steps from one version to another.
	chains map[pair]route
	// effects says what the chains may change in metadata.
	effects map[pair]effects
	// metadata converts with the rules that may write metadata only.
	metadata *Converter
}

// A route holds the steps of a chain of converters.
type route struct {
	// steps return the plan of each converter.
	steps []func() (*plan, *Error)
	// err says why there is no chain.
	err error
}

var (
	errNoSchema = errors.New("a version has no structural schema")
	errInternal = errors.New("internal error")
)

// New returns the converter of a definition. Objects for which the converters determine no chain cannot be converted;
// Validate reports such pairs of versions.
func New(d *Definition) *Converter {
	versions := map[string]*typedVersion{}
	var names []string
	for _, v := range d.Versions {
		versions[v.Name] = newTypedVersion(v)
		names = append(names, v.Name)
	}
	tables := newTables(d.Tables)
	g := newGraph(names, d.Converters)
	steps, metadataSteps := map[pair]func() (*plan, *Error){}, map[pair]func() (*plan, *Error){}
	for p, index := range g.converters {
		step := func(skip func(*v1.ConversionRule) bool) func() (*plan, *Error) {
			return sync.OnceValues(func() (*plan, *Error) {
				return newPlan(versions[p.from], versions[p.to], tables, &d.Converters[index], index, skip)
			})
		}
		steps[p], metadataSteps[p] = step(nil), step(keepsMetadata)
	}
	c := &Converter{kind: d.Kind, chains: map[pair]route{}, effects: map[pair]effects{}}
	c.metadata = &Converter{kind: d.Kind, chains: map[pair]route{}}
	for _, from := range names {
		found := g.chains(from)
		for _, to := range names {
			if p := (pair{from, to}); from != to {
				c.chains[p], c.metadata.chains[p] = newRoute(found[to], steps), newRoute(found[to], metadataSteps)
				c.effects[p] = effectsOf(found[to], g.converters, d.Converters)
			}
		}
	}
	return c
}

// newRoute returns the route along the only chain.
func newRoute(chains []chain, steps map[pair]func() (*plan, *Error)) route {
	switch len(chains) {
	case 0:
		return route{err: errors.New("spec.conversion.converters has no converter, and no chain of converters, for these versions")}
	case 1:
		var r route
		for i, from := range chains[0][:len(chains[0])-1] {
			r.steps = append(r.steps, steps[pair{from, chains[0][i+1]}])
		}
		return r
	default:
		return route{err: fmt.Errorf("spec.conversion.converters has several shortest chains of converters: %s and %s", chains[0], chains[1])}
	}
}

// Convert returns the object in another version. It does not change in. The result shares values with in: a caller that
// changes one must not use the other, or deep-copy it first. If the object already has the version, Convert returns
// in itself.
//
// The result still has the fields of in that the other version does not specify; the caller prunes them. Converters in the
// middle of a chain read pruned objects. Errors have the type *Error. Convert does not panic.
func (c *Converter) Convert(ctx context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	return c.convert(ctx, in, toVersion, nil)
}

// convert converts an object. part is nil if the object is whole.
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
	var results ruleresult.Results
	for i, step := range chain.steps {
		plan, planErr := step()
		if planErr != nil {
			copied := *planErr
			return nil, fail(&copied)
		}
		conversion := newConversion(plan, object, c.gv(plan.to.name), budget, &results, part)
		converted, stepErr := conversion.run(ctx)
		if stepErr != nil {
			stepErr.From, stepErr.To = plan.from.name, plan.to.name
			return nil, fail(stepErr)
		}
		if i < len(chain.steps)-1 {
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
