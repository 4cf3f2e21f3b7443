// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdtest

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// A node is a schema that is being built.
type node struct {
	apiextensionsv1.JSONSchemaProps
}

type properties map[string]node

// with returns the node with more validation rules.
func (n node) with(rules ...apiextensionsv1.ValidationRule) node {
	n.XValidations = append(n.XValidations[:len(n.XValidations):len(n.XValidations)], rules...)
	return n
}

func rule(message, expression string) apiextensionsv1.ValidationRule {
	return apiextensionsv1.ValidationRule{Rule: expression, Message: message}
}

func object(p properties, required ...string) node {
	o := apiextensionsv1.JSONSchemaProps{Type: "object", Required: required, Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for name, property := range p {
		o.Properties[name] = property.JSONSchemaProps
	}
	return node{o}
}

func list(max int64, items node) node {
	return node{apiextensionsv1.JSONSchemaProps{
		Type: "array", MaxItems: &max, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items.JSONSchemaProps},
	}}
}

func text(maxLength int64) node {
	return node{apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: &maxLength}}
}

func integer(min, max float64) node {
	return node{apiextensionsv1.JSONSchemaProps{Type: "integer", Minimum: &min, Maximum: &max}}
}

// duration returns a string that CEL's function duration accepts.
func duration() node {
	return node{apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: new(int64(16)), Pattern: "^([0-9]{1,5}(h|m|s|ms)){1,4}$"}}
}
