// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const modelPrefix = "com.example.bakery.v1."

// OpenAPIModelName returns the name of the schema of orders.
func (Order) OpenAPIModelName() string { return modelPrefix + "Order" }

// OpenAPIModelName returns the name of the schema of lists of orders.
func (OrderList) OpenAPIModelName() string { return modelPrefix + "OrderList" }

// OpenAPIDefinitions returns the schemas of the types. The server needs them to merge the apply
// configurations of mutating policies into orders.
func OpenAPIDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	object := func(metadata string, properties map[string]spec.Schema) common.OpenAPIDefinition {
		properties["apiVersion"], properties["kind"] = *spec.StringProperty(), *spec.StringProperty()
		properties["metadata"] = spec.Schema{SchemaProps: spec.SchemaProps{Default: map[string]any{}, Ref: ref(metadata)}}
		return common.OpenAPIDefinition{Schema: of(properties), Dependencies: []string{metadata}}
	}
	item := of(map[string]spec.Schema{"bread": *spec.StringProperty(), "loaves": *spec.Int32Property()}, "bread", "loaves")
	items := spec.ArrayProperty(&item)
	items.Extensions = spec.Extensions{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"bread"}}
	order := object(metav1.ObjectMeta{}.OpenAPIModelName(), map[string]spec.Schema{"spec": of(map[string]spec.Schema{
		"customer": *spec.StringProperty(), "items": *items, "delivery": *spec.StringProperty(),
	}, "customer", "items")})
	reference := spec.Schema{SchemaProps: spec.SchemaProps{Default: map[string]any{}, Ref: ref(Order{}.OpenAPIModelName())}}
	list := object(metav1.ListMeta{}.OpenAPIModelName(), map[string]spec.Schema{"items": *spec.ArrayProperty(&reference)})
	list.Dependencies = append(list.Dependencies, Order{}.OpenAPIModelName())
	return map[string]common.OpenAPIDefinition{Order{}.OpenAPIModelName(): order, OrderList{}.OpenAPIModelName(): list}
}

// of returns the schema of an object.
func of(properties map[string]spec.Schema, required ...string) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: properties, Required: required}}
}
