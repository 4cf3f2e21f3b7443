// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
)

// ConvertPartial converts a part of an object, such as the fields that a manager of server-side
// apply owns. It differs from Convert in that a rule that fails leaves its field unset, because
// what the rule reads may be missing. Invalid labels or annotations are no error either: the part
// keeps its own metadata. The caller has to know that the whole object converts: ConvertPartial
// cannot tell a missing value from a wrong one. It returns all other errors of Convert, such as
// those about costs.
//
// defaulted is the part with the defaults of its version, or nil. A rule that fails is evaluated
// again with it, and sets its field if it also reads a value that the part has. A rule that reads
// nothing but defaults leaves its field unset: the part lacks the field because its owner has given
// it up.
func (c *Converter) ConvertPartial(ctx context.Context, in, defaulted *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	part := &part{}
	if defaulted != nil {
		part.defaulted = defaulted.Object
	}
	return c.convert(ctx, in, toVersion, part)
}

// A part is the state of converting an object that may lack fields that rules read.
type part struct {
	// defaulted is the object with its defaults, in the version that the next converter of the
	// chain converts from. It is nil if they are not known.
	defaulted map[string]any
}

// next converts defaulted with the converter of c, for the next converter of the chain. It sets
// defaulted to nil if a rule fails for it.
func (p *part) next(ctx context.Context, c *conversion) {
	if c.defaults == nil {
		return
	}
	p.defaulted = nil
	if converted, err := c.defaults.run(ctx); err == nil {
		p.defaulted = c.plan.prune(converted)
	}
}

// applyDefaulted evaluates a rule once more, with the defaults of the source, after it has failed
// for the value at a path. It leaves the field of the rule unset if the rule fails again, or reads
// nothing but defaults.
func (c *conversion) applyDefaulted(ctx context.Context, rule *plannedRule, at rulepath.Path) {
	if c.defaults != nil && rule.readsAny(c.source, at) {
		if value, found, err := at.Get(c.defaults.source); found && err == nil {
			values := &scopeValues{matches: []rulepath.Location{{Path: at, Value: value}}, scope: &c.plan.scopes[rule.scopeIndex], activations: make([]schemaexpression.Activation, 1)}
			evaluation := rule.program.Evaluate(ctx, c.defaults.activation(values, 0))
			if evaluation.Err == nil && c.defaults.charge(evaluation) && c.assign(rule, at, evaluation) == nil {
				return
			}
		}
	}
	c.unset(rule, at)
}

// readsAny reports whether an object has any of the values that a rule reads when it is evaluated
// for the value at a path. Values that every object has, such as its kind, do not count.
func (r *plannedRule) readsAny(object map[string]any, at rulepath.Path) bool {
	return slices.ContainsFunc(r.reads(), func(read sourceRead) bool {
		path := read.path
		if read.inSelf {
			path = at.Join(path[len(r.scope):])
		}
		matches, err := path.Locations(object, 1)
		return len(matches) > 0 || errors.Is(err, rulepath.ErrTooManyLocations)
	})
}

// innermostReads returns the parts of the source that a rule reads, to tell whether it reads
// anything that a partial object has. It leaves out a value if the rule also reads something in it.
// It also leaves out apiVersion, kind, and the names and the namespace in metadata, which every
// object has.
func innermostReads(from *typedVersion, rule *compiledRule) []sourceRead {
	reads := sourceReads(from, rule.scope, rule.expression)
	return slices.DeleteFunc(slices.Clone(reads), func(read sourceRead) bool {
		n := len(read.path)
		return isIdentifying(read.path) || slices.ContainsFunc(reads, func(other sourceRead) bool {
			return len(other.path) > n && slices.Equal(other.path[:n], read.path)
		})
	})
}

// isIdentifying reports whether a path leads to the type or the name of an object.
func isIdentifying(path rulepath.Path) bool {
	if len(path) == 2 && path[0].Name == "metadata" {
		return slices.Contains([]string{"name", "generateName", "namespace"}, path[1].Name)
	}
	return len(path) > 0 && typeFields[path[0].Name]
}

// unset deletes the field of a rule that failed in a partial conversion, because the target starts
// as a copy of the source and may still have the field. at is the path of the value that the rule
// was evaluated for. unset keeps list items and the object itself, which cannot be deleted.
func (c *conversion) unset(rule *plannedRule, at rulepath.Path) {
	path := at.Join(rule.field)
	if len(path) == 0 || path[len(path)-1].Item {
		return
	}
	// There is nothing to delete if the path does not lead to a value.
	_ = path.Delete(c.target)
}

// keepMetadata undoes what the rules have done to labels and annotations: the target gets the
// metadata of the source.
func (c *conversion) keepMetadata() {
	if metadata, ok := c.source["metadata"]; ok {
		c.target["metadata"] = metadata
		return
	}
	delete(c.target, "metadata")
}
