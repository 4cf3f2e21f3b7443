// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package defaulting checks and evaluates x-kubernetes-default: CEL expressions in the schema of a
// version, which set fields of custom resources that are unset.
//
// The rules of one version run in one pass over the object. The rules of a schema run before those
// of the schemas in it, in the order of the list; properties follow by name, then the values of
// maps by key and the items of lists by index. A rule sees the fields that earlier rules have set.
// An object that a rule creates gets its static defaults at once, before the rules in it run.
package defaulting

import (
	"sync"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/klog/v2"

	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// Rules holds the rules of one version, which are compiled at the first use. It is immutable and
// safe for concurrent use. A nil *Rules has no rules.
type Rules struct {
	crd    string
	schema *model.Structural // of the object
	root   func() *place
}

// New returns the rules of a version of a CustomResourceDefinition. root is the structural schema
// of the version, which must not change, nor must the defaults. A stored rule may be invalid for
// this server, for example after a downgrade: it sets nothing, and Validate returns an error. New
// returns nil if there are no rules.
func New(crd string, root *structuralschema.Structural, defaults apiextensions.SchemaDefaults) *Rules {
	if root == nil || len(defaults) == 0 {
		return nil
	}
	return &Rules{
		crd:    crd,
		schema: (&place{schema: root, resource: true}).valueSchema(),
		root:   sync.OnceValue(func() *place { return compile(crd, root, defaults) }),
	}
}

// compile returns the place of the object, with the compiled rules in it and in the places below.
func compile(crd string, root *structuralschema.Structural, defaults apiextensions.SchemaDefaults) *place {
	top, outside := newPlaces(root, defaults)
	for _, path := range outside {
		klog.Background().Info("Ignoring default expressions that are in no structural schema", "customResourceDefinition", crd, "schema", path)
	}
	c := newCompiler(root, func(string) environment.Type { return environment.StoredExpressions })
	top.each(func(at *place) {
		at.self = schemaexpression.NewOpenSchema(at.valueSchema())
		for _, source := range at.sources {
			r, err := c.compile(at, source, nil)
			if err != nil {
				klog.Background().Info("A stored default expression is invalid", "customResourceDefinition", crd, "schema", at.path, "rule", source.Rule, "err", err)
			}
			switch {
			case r == nil:
			case r.scope == at:
				at.rules = append(at.rules, r)
			default:
				at.own = append(at.own, r)
			}
		}
	})
	// Only compilation needs the types, which are large.
	top.each(func(at *place) { at.declared = nil })
	return top
}
