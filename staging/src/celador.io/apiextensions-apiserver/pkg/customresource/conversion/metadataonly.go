// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/admission/cel/rulepath"
)

// metadataChanges tells which metadata a converter or a chain of them may change. labels is set if
// it may change labels, and metadata if it may change labels or annotations.
type metadataChanges struct{ labels, metadata bool }

// ChangesLabels reports whether converting an object from one version to another may change labels.
func (c *Converter) ChangesLabels(from, to string) bool { return c.changes[pair{from, to}].labels }

// ChangesMetadata reports whether converting an object from one version to another may change
// labels or annotations.
func (c *Converter) ChangesMetadata(from, to string) bool { return c.changes[pair{from, to}].metadata }

// ConvertMetadata returns an object in another version with only apiVersion, kind and metadata. It
// evaluates the rules that may write metadata. In a chain, it also evaluates all rules of earlier
// converters, because later ones may read what these set. It does not change in, and the result
// shares values with it. Errors have the type *Error.
func (c *Converter) ConvertMetadata(ctx context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	source := in
	if c.changes[pair{in.GroupVersionKind().Version, toVersion}].metadata {
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

// metadataChangesOf returns what a converter may change in metadata.
func metadataChangesOf(converter *v1.Converter) metadataChanges {
	var e metadataChanges
	for i := range converter.Rules {
		labels, metadata := writesMetadata(&converter.Rules[i])
		e.labels, e.metadata = e.labels || labels, e.metadata || metadata
	}
	return e
}

// metadataChangesAlong returns which metadata a chain may change, and the plans of the converters
// with which ConvertMetadata converts an object along the chain. They end with the last converter
// that may change metadata, whose plan is from metadataPlans and evaluates only rules that write
// metadata. The plans of the converters before it are from plans, because it may read any field
// that they set. each tells which metadata each single converter may change.
func metadataChangesAlong(c chain, each map[pair]metadataChanges, plans, metadataPlans map[pair]lazyPlan) (metadataChanges, []lazyPlan) {
	var e metadataChanges
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
// A rule that sets the whole object may write both.
func writesMetadata(rule *v1.ConversionRule) (labels, metadata bool) {
	path := pathOf(rule)
	metadata = len(path) == 0 || path[0].Name == "metadata"
	return metadata && (len(path) < 2 || path[1].Name == "labels"), metadata
}

// pathOf returns the path of the field that a rule sets. It is empty for the whole object, and for
// an invalid rule, which may do anything.
func pathOf(rule *v1.ConversionRule) rulepath.Path {
	scope, scopeErr := rulepath.ParseScope(rule.Scope)
	field, fieldErr := rulepath.ParseField(rule.Field)
	if scopeErr != nil || fieldErr != nil {
		return nil
	}
	return scope.Join(field)
}
