// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
)

// effects says what a chain of converters may change in metadata.
type effects struct{ labels, metadata bool }

// ChangesLabels reports whether converting an object from one version to another may change labels.
func (c *Converter) ChangesLabels(from, to string) bool { return c.effects[pair{from, to}].labels }

// ChangesMetadata reports whether converting an object from one version to another may change
// labels or annotations.
func (c *Converter) ChangesMetadata(from, to string) bool { return c.effects[pair{from, to}].metadata }

// ConvertMetadata returns an object in another version that has apiVersion, kind and metadata, but
// no other fields. It evaluates only the rules that may write metadata, and all rules of the
// converters that come before those in a chain, because they may read what these converters return.
// It does not change in, with which the result shares values. Errors have the type *Error.
func (c *Converter) ConvertMetadata(ctx context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	source := in
	if c.effects[pair{in.GroupVersionKind().Version, toVersion}].metadata {
		converted, err := c.metadata.Convert(ctx, in, toVersion)
		if err != nil {
			return nil, err
		}
		source = converted
	}
	out := map[string]any{"apiVersion": c.gv(toVersion), "kind": in.Object["kind"]}
	if metadata, ok := source.Object["metadata"]; ok {
		out["metadata"] = metadata
	}
	return &unstructured.Unstructured{Object: out}, nil
}

// effectsOf returns the effects of a converter.
func effectsOf(converter *v1.Converter) effects {
	var e effects
	for i := range converter.Rules {
		labels, metadata := writesMetadata(&converter.Rules[i])
		e.labels, e.metadata = e.labels || labels, e.metadata || metadata
	}
	return e
}

// effectsAlong returns the effects of a chain, and the plans that convert metadata along it: plans
// before the last converter that may change metadata, and the one of metadataPlans for this
// converter. each holds the effects of the converters.
func effectsAlong(c chain, each map[pair]effects, plans, metadataPlans map[pair]lazyPlan) (effects, []lazyPlan) {
	var e effects
	var all, metadata []lazyPlan
	for i, from := range c[:len(c)-1] {
		p := pair{from, c[i+1]}
		if own := each[p]; own.metadata {
			e.labels, e.metadata = e.labels || own.labels, true
			metadata = append(slices.Clone(all), metadataPlans[p])
		}
		all = append(all, plans[p])
	}
	return e, metadata
}

// writesMetadata reports whether a rule may write labels, and whether it may write metadata at all.
// A rule for the whole object may.
func writesMetadata(rule *v1.ConversionRule) (labels, metadata bool) {
	path := pathOf(rule)
	metadata = len(path) == 0 || path[0].Name == "metadata"
	return metadata && (len(path) < 2 || path[1].Name == "labels"), metadata
}

// pathOf returns the path of the field that a rule sets. It is empty, as for the whole object, if
// the rule is invalid.
func pathOf(rule *v1.ConversionRule) rulepath.Path {
	scope, scopeErr := rulepath.ParseScope(rule.Scope)
	field, fieldErr := rulepath.ParseField(rule.Field)
	if scopeErr != nil || fieldErr != nil {
		return nil
	}
	return scope.Join(field)
}
