// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"maps"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// A place is a schema that has default rules, or a schema around one. The places of a version form
// a tree, which does not change once it is built.
type place struct {
	path   apiextensions.SchemaPath
	schema *structuralschema.Structural
	parent *place
	// location is the path of the values of the schema.
	location rulepath.Path
	// property is the name of the property that the schema belongs to. It is empty for the root,
	// for items and for additionalProperties.
	property string
	// resource is set for the root and for embedded resources.
	resource bool
	// metadata is set for the metadata of a resource and for everything in it.
	metadata bool
	// sources are the rules that are written in the schema.
	sources []v1.DefaultRule

	// properties is sorted by name.
	properties    []*place
	items, values *place

	declared *apiservercel.DeclType // see selfType

	// rules and own hold the compiled rules of the schema. A rule with a field sets that field in a
	// value of the schema, and is in rules: the value is its self. A rule without a field sets the
	// value itself, and is in own: its self is the object around the value.
	rules, own []*rule
	// self is the schema by which rules read their self.
	self *schemaexpression.Schema
}

// newPlaces returns the root of the places, and the paths of rules that are in no structural
// schema, such as in anyOf.
func newPlaces(root *structuralschema.Structural, defaults apiextensions.SchemaDefaults) (*place, []apiextensions.SchemaPath) {
	top := &place{schema: root, resource: true}
	var outside []apiextensions.SchemaPath
	for _, path := range slices.Sorted(maps.Keys(defaults)) {
		at := top
		for tokens := path.Tokens(); at != nil && len(tokens) > 0; {
			at, tokens = at.below(tokens)
		}
		if at == nil {
			outside = append(outside, path)
			continue
		}
		at.sources = defaults[path]
	}
	return top, outside
}

// below returns the place one level below p on the path to a schema with rules. tokens are the
// elements of the path from p, such as properties and spec; below returns those that remain. The
// place is nil if the path leaves the structural schema, such as into anyOf.
func (p *place) below(tokens []string) (*place, []string) {
	switch keyword := tokens[0]; {
	case keyword == "properties" && len(tokens) > 1:
		name := tokens[1]
		property, ok := p.schema.Properties[name]
		if !ok {
			return nil, nil
		}
		i, found := slices.BinarySearchFunc(p.properties, name, func(p *place, name string) int { return strings.Compare(p.property, name) })
		if !found {
			next := p.child(&property, keyword, name)
			next.property = name
			next.metadata = p.metadata || p.resource && name == "metadata"
			p.properties = slices.Insert(p.properties, i, next)
		}
		return p.properties[i], tokens[2:]
	case keyword == "items" && p.schema.Items != nil:
		if p.items == nil {
			p.items = p.child(p.schema.Items, keyword)
		}
		return p.items, tokens[1:]
	case keyword == "additionalProperties" && ruleschema.Values(p.schema) != nil:
		if p.values == nil {
			p.values = p.child(ruleschema.Values(p.schema), keyword)
		}
		return p.values, tokens[1:]
	}
	return nil, nil
}

func (p *place) child(schema *structuralschema.Structural, tokens ...string) *place {
	path := p.path + apiextensions.NewSchemaPath(tokens...)
	return &place{
		path:     path,
		schema:   schema,
		parent:   p,
		location: location(path.Tokens()),
		resource: schema.XEmbeddedResource,
		metadata: p.metadata,
	}
}

// each calls visit for the place and all places in it, parents first, properties by name.
func (p *place) each(visit func(*place)) {
	if p == nil {
		return
	}
	visit(p)
	for _, property := range p.properties {
		property.each(visit)
	}
	p.values.each(visit)
	p.items.each(visit)
}

// valueSchema returns the schema by which expressions read self. If self is a resource, the schema
// has apiVersion, kind and metadata even if the author did not declare them.
func (p *place) valueSchema() *model.Structural {
	if p.resource {
		return &model.Structural{Structural: model.WithTypeAndObjectMeta(p.schema)}
	}
	return &model.Structural{Structural: p.schema}
}

// resourceSchema returns the schema of self. If self is a resource, it is marked as an embedded
// resource (x-kubernetes-embedded-resource), so that apiVersion, kind and metadata count as set.
func (p *place) resourceSchema() *structuralschema.Structural {
	if !p.resource {
		return p.schema
	}
	resource := *p.schema
	resource.XEmbeddedResource = true
	return &resource
}

// selfTypeName is the name of self's type. It is not "self", because CEL would then take self.spec
// for the name of a type.
const selfTypeName = "selfType"

// selfType returns the type of self. Values that the schema leaves open are dynamic.
func (p *place) selfType() *apiservercel.DeclType {
	if p.declared == nil {
		if p.declared = schemaexpression.OpenDeclType(&model.Structural{Structural: p.schema}, p.resource); p.declared != nil {
			p.declared = ruleresult.NameTypes(p.declared, selfTypeName)
		}
	}
	return p.declared
}

// repetitions returns the declared limits of the lists and maps around the place, outermost first,
// from which the cost of a rule is estimated. A negative number means that there is no limit.
func (p *place) repetitions() []int64 {
	if p.parent == nil {
		return nil
	}
	outer := p.parent.repetitions()
	limit := int64(-1)
	values := p.parent.schema.ValueValidation
	switch p {
	case p.parent.items:
		if values != nil && values.MaxItems != nil {
			limit = *values.MaxItems
		}
	case p.parent.values:
		if values != nil && values.MaxProperties != nil {
			limit = *values.MaxProperties
		}
	default:
		return outer
	}
	return append(outer, limit)
}
