// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleschema

import (
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
)

// An UnsetValue is a value that an expression reads without asking whether it is set, although a
// valid object may lack it: the expression may then fail.
type UnsetValue struct {
	// Variable is the variable that the path begins at: schemaexpression.Self or Root.
	Variable string
	Path     rulepath.Path
	// First is the index of the first segment of the path whose value a valid object may lack. An
	// object that lacks it lacks the values after it, too.
	First int
	// Shared is the name of the shared variable whose expression reads the value, or empty.
	Shared string
}

// Unset returns the unguarded reads that may fail for a valid object, because the schema lets the
// object lack the value. Servers warn about them. If an object may lack both a value and a value
// inside it, Unset returns only the inner one.
//
// self and root are the schemas of these variables. root is nil if the expression has no such
// variable. A schema of a resource must have x-kubernetes-embedded-resource, so that apiVersion,
// kind and metadata count as set.
func Unset(self, root *structuralschema.Structural, reads []schemaexpression.UnguardedRead) []UnsetValue {
	var unset []UnsetValue
	for _, read := range reads {
		schema := self
		if read.Variable == schemaexpression.Root || read.Shared != "" {
			schema = root
		}
		path, isUnset := mayBeUnset(schema, read.Path)
		if !isUnset {
			continue
		}
		first := 0
		for ; first < len(path)-1; first++ {
			if _, earlier := mayBeUnset(schema, read.Path[:first+1]); earlier {
				break
			}
		}
		unset = append(unset, UnsetValue{read.Variable, path, first, read.Shared})
	}
	return slices.DeleteFunc(slices.Clone(unset), func(value UnsetValue) bool {
		n := len(value.Path)
		return slices.ContainsFunc(unset, func(other UnsetValue) bool {
			return other.Variable == value.Variable && other.Shared == value.Shared && len(other.Path) > n && slices.Equal(other.Path[:n], value.Path)
		})
	})
}

// mayBeUnset returns the path in the schema of a value. read is the path with which an expression
// reads the value. unset is set if a valid object may lack the value although it has all values
// before it on the path.
func mayBeUnset(schema *structuralschema.Structural, read []string) (path rulepath.Path, unset bool) {
	for _, name := range read {
		segment := rulepath.Segment{Name: name, Each: name == schemaexpression.Entry}
		if segment.Each {
			segment.Name = ""
		}
		switch {
		case schema == nil, schema.Type == "" && !schema.XIntOrString:
			schema, unset = nil, !segment.Each
		case schema.Items != nil:
			segment = rulepath.Segment{Each: true}
			schema, unset = schema.Items, false
		case Values(schema) != nil:
			schema, unset = Values(schema), !segment.Each
		default:
			property, ok := schema.Properties[name]
			if unescaped, isEscaped := apiservercel.Unescape(name); !ok && isEscaped {
				segment.Name = unescaped
				property, ok = schema.Properties[unescaped]
			}
			switch {
			case schema.XEmbeddedResource && identifying[segment.Name]:
				return append(path, segment), false
			case ok:
				schema, unset = &property, property.Nullable || property.Default.Object == nil && !isRequired(schema, segment.Name)
			default:
				// The schema does not describe the field: the object preserves unknown fields, or
				// is a map of values of any type. So no schema requires the field, and it may be
				// unset.
				schema, unset = nil, true
			}
		}
		path = append(path, segment)
	}
	return path, unset
}

// identifying are the fields that every resource has.
var identifying = map[string]bool{"apiVersion": true, "kind": true, "metadata": true}

func isRequired(schema *structuralschema.Structural, property string) bool {
	return schema.ValueValidation != nil && slices.Contains(schema.ValueValidation.Required, property)
}
