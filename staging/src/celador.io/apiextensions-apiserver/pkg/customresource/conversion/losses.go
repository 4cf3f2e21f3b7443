// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/admission/cel/rulepath"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// overwritten returns a warning for each rule whose result a later rule replaces.
func (c *checkedRules) overwritten() []string {
	var warnings []string
	for i := range c.rules {
		path := c.rules[i].path()
		for j := i + 1; j < len(c.rules); j++ {
			later := c.rules[j].path()
			if len(later) > len(path) || !slices.Equal(later, path[:len(later)]) || mayMerge(c.rules[j].expression.OutputType()) {
				continue
			}
			warnings = append(warnings, fmt.Sprintf("%s has no effect: %s sets the same field, or one above it, afterwards", c.path.Index(i), c.path.Index(j)))
			break
		}
	}
	return warnings
}

// losses returns a warning that names the fields that get lost: the version that is converted to
// cannot hold them, and no rule reads them.
func (c *checkedRules) losses() []string {
	var reads readFields
	for _, rule := range c.rules {
		for _, read := range sourceReads(c.edge.from, rule.scope, rule.expression) {
			reads.add(read.path, read.whole)
		}
	}
	from, to := c.edge.from.schema, c.edge.to.schema
	var l losses
	for _, name := range slices.Sorted(maps.Keys(from.Properties)) {
		if name != "metadata" && !typeFields[name] {
			l.field(nil, name, from, to, &reads)
		}
	}
	if len(l.lost) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: converting an object from %s to %s loses %s: %s cannot hold them, and no rule reads them. "+
		"If they matter, add rules that set other fields from them, or keep them in an annotation, such as {field: \"metadata.annotations['example.com/%s']\", rule: \"json.encode(...)\"}",
		c.path, c.edge.from.name, c.edge.to.name, ruleerror.List(l.lost, maxWarned, ", ", " fields"), c.edge.to.name, c.edge.from.name)}
}

// readFields are the fields that rules read, as a tree of names.
type readFields struct {
	// read is set if a rule reads the value itself, or at least its presence or size.
	read bool
	// whole is set if a rule reads everything in the value.
	whole bool
	below map[rulepath.Segment]*readFields
}

func (r *readFields) add(path rulepath.Path, whole bool) {
	for _, step := range path {
		if r.below == nil {
			r.below = map[rulepath.Segment]*readFields{}
		}
		next := r.below[step]
		if next == nil {
			next = &readFields{}
			r.below[step] = next
		}
		r = next
	}
	r.read, r.whole = true, r.whole || whole
}

// at returns the fields that are read below a segment. A nil receiver has none.
func (r *readFields) at(step rulepath.Segment) *readFields {
	if r == nil || r.whole {
		return r
	}
	return r.below[step]
}

// losses collects the fields that conversion loses.
type losses struct{ lost []string }

func (l *losses) field(parent rulepath.Path, name string, source, target *structuralschema.Structural, reads *readFields) {
	step := rulepath.Segment{Name: name}
	schema := source.Properties[name]
	path := parent.Join(rulepath.Path{step})
	if target == nil {
		l.missing(path, &schema, reads.at(step))
		return
	}
	kept := fieldSchema(target, name)
	if kept == nil && target.XPreserveUnknownFields {
		return
	}
	l.compare(path, &schema, kept, reads.at(step))
}

// compare collects the losses in a value. target is nil if the target does not have it.
func (l *losses) compare(path rulepath.Path, source, target *structuralschema.Structural, reads *readFields) {
	switch {
	case reads != nil && reads.whole:
		return
	case target == nil || !keepsType(source, target):
		l.missing(path, source, reads)
		return
	case ruleresult.IsAny(target):
		return
	}
	each := rulepath.Segment{Each: true}
	if source.Items != nil {
		l.compare(path.Join(rulepath.Path{each}), source.Items, target.Items, reads.at(each))
	}
	if values := ruleschema.Values(source); values != nil && ruleschema.Values(target) != nil {
		l.compare(path.Join(rulepath.Path{each}), values, ruleschema.Values(target), reads.at(each))
	} else if values != nil && !target.XPreserveUnknownFields {
		l.add(path, "keys of ")
	}
	for _, name := range slices.Sorted(maps.Keys(source.Properties)) {
		l.field(path, name, source, target, reads)
	}
	if source.XPreserveUnknownFields && !target.XPreserveUnknownFields && ruleschema.Values(target) == nil && target.Type == "object" {
		l.add(path, "unknown fields of ")
	}
}

// missing records that a value at path gets lost, because the version that is converted to does not
// have it. Parts that rules read are not lost: if there are such parts, missing records the others.
func (l *losses) missing(path rulepath.Path, source *structuralschema.Structural, reads *readFields) {
	each := rulepath.Segment{Each: true}
	switch {
	case reads == nil:
		l.add(path, "")
	case reads.whole:
	case source.Items != nil && reads.at(each) != nil:
		l.missing(path.Join(rulepath.Path{each}), source.Items, reads.at(each))
	case ruleschema.Values(source) != nil && reads.at(each) != nil:
		l.missing(path.Join(rulepath.Path{each}), ruleschema.Values(source), reads.at(each))
	case len(source.Properties) > 0:
		for _, name := range slices.Sorted(maps.Keys(source.Properties)) {
			l.field(path, name, source, nil, reads)
		}
	case !reads.read:
		l.add(path, "")
	}
}

func (l *losses) add(path rulepath.Path, what string) { l.lost = append(l.lost, what+path.String()) }
