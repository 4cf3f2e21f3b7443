// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/schemaexpression"
)

// TakeTraced is Take for rules whose evaluations a tracer observes. It compiles the rules at once,
// and passes each program to tracer.Compiled, so that the tracer knows where the program comes
// from: the CustomResourceDefinition named crd, and the field of the rule in it. path is the field
// of the schema, to which the path of each rule in the schema is added.
func TakeTraced(schema *structuralschema.Structural, resourceRoot bool, tracer schemaexpression.Tracer, crd string, path *field.Path) *Rules {
	rules := takeWith(schemaexpression.Default().Traced(tracer), schema, resourceRoot)
	if rules == nil {
		return nil
	}
	rules.tree().announce(path, func(path *field.Path, program *schemaexpression.Program) {
		tracer.Compiled(crd, path.String(), program)
	})
	return rules
}

// announce calls compiled with the programs of the node and of the nodes below, and their fields.
// path is the field of the node's schema.
func (n *node) announce(path *field.Path, compiled func(*field.Path, *schemaexpression.Program)) {
	if n == nil {
		return
	}
	if n.program != nil {
		for i, rule := range n.program().rules {
			at := path.Child("x-kubernetes-validations").Index(i)
			if rule.rule != nil {
				compiled(at.Child("rule"), rule.rule)
			}
			if rule.message != nil {
				compiled(at.Child("messageExpression"), rule.message)
			}
		}
	}
	for _, all := range n.allOf {
		all.announce(path.Child("allOf").Index(all.position), compiled)
	}
	n.items.announce(path.Child("items"), compiled)
	n.additional.announce(path.Child("additionalProperties"), compiled)
	for _, p := range n.properties {
		p.node.announce(path.Child("properties").Key(p.name), compiled)
	}
}
