// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"fmt"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/client-go/openapi"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/spec3"
	models "k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	definitions "k8s.io/kubernetes/pkg/generated/openapi"

	"celador.io/celador/test/equivalence/harness"
)

// schemas implements openapi.Client. It serves the OpenAPI documents of the built-in kinds that
// requests use, and of widgets. Gadgets have no document.
type schemas map[schema.GroupVersion]document

var published = sync.OnceValue(func() schemas {
	built := schemas{}
	kinds := map[schema.GroupVersion][]string{
		corev1.SchemeGroupVersion:            {"PodExecOptions"},
		extensionsv1beta1.SchemeGroupVersion: {"Deployment"},
		autoscalingv1.SchemeGroupVersion:     {"Scale"},
	}
	for _, k := range builtInKinds {
		kinds[k.version] = append(kinds[k.version], k.names...)
	}
	for version, names := range kinds {
		for i := range names {
			names[i] = modelOf(version.WithKind(names[i]))
		}
		built[version] = publish(builtIn(names))
	}
	for _, kind := range []schema.GroupVersionKind{harness.Widget, harness.NewerWidget} {
		built[kind.GroupVersion()] = publish(custom(kind))
	}
	return built
})

func modelOf(kind schema.GroupVersionKind) string {
	object, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		panic(err)
	}
	return object.(interface{ OpenAPIModelName() string }).OpenAPIModelName()
}

// builtIn returns the named models and the models that they refer to.
func builtIn(names []string) map[string]*models.Schema {
	found, err := builder3.BuildOpenAPIDefinitionsForResources(&common.OpenAPIV3Config{
		Info:              &models.Info{},
		GetDefinitions:    definitions.GetOpenAPIDefinitions,
		GetDefinitionName: openapinamer.NewDefinitionNamer(legacyscheme.Scheme).GetDefinitionName,
	}, names...)
	if err != nil {
		panic(err)
	}
	return found
}

// widgets is the schema of both versions of widgets. List parts is atomic, list slots has keys,
// and list tags is a set.
const widgets = `{
	"type": "object",
	"x-kubernetes-group-version-kind": [{"group": %q, "version": %q, "kind": %q}],
	"properties": {
		"apiVersion": {"type": "string"}, "kind": {"type": "string"},
		"metadata": {"type": "object", "properties": {
			"name": {"type": "string"}, "namespace": {"type": "string"},
			"labels": {"type": "object", "additionalProperties": {"type": "string"}},
			"annotations": {"type": "object", "additionalProperties": {"type": "string"}},
			"finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}}},
		"spec": {"type": "object", "properties": {
			"replicas": {"type": "integer"}, "size": {"type": "integer"}, "ratio": {"type": "number"}, "note": {"type": "string"}, "on": {"type": "boolean"},
			"parts": {"type": "array", "items": {"type": "string"}},
			"tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
			"frame": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"color": {"type": "string"}}},
			"slots": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "side"], "items": {"type": "object", "properties": {
				"name": {"type": "string"}, "side": {"type": "string", "default": "left"}, "depth": {"type": "integer"}}}},
			"free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}`

func custom(kind schema.GroupVersionKind) map[string]*models.Schema {
	model := &models.Schema{}
	if err := json.Unmarshal(fmt.Appendf(nil, widgets, kind.Group, kind.Version, kind.Kind), model); err != nil {
		panic(err)
	}
	return map[string]*models.Schema{"com.example." + kind.Version + "." + kind.Kind: model}
}

func publish(all map[string]*models.Schema) document {
	for _, model := range all {
		shorten(model)
	}
	text, err := json.Marshal(spec3.OpenAPI{Version: "3.0.0", Components: &spec3.Components{Schemas: all}})
	if err != nil {
		panic(err)
	}
	return text
}

// shorten removes descriptions, because each plugin parses the documents again.
func shorten(model *models.Schema) {
	model.Description = ""
	for name, property := range model.Properties {
		shorten(&property)
		model.Properties[name] = property
	}
}

// Paths implements openapi.Client.
func (s schemas) Paths() (map[string]openapi.GroupVersion, error) {
	paths := map[string]openapi.GroupVersion{}
	for version, text := range s {
		path := "apis/" + version.String()
		if version.Group == "" {
			path = "api/" + version.Version
		}
		paths[path] = text
	}
	return paths, nil
}

// document is an OpenAPI document. It implements openapi.GroupVersion.
type document []byte

func (d document) Schema(string) ([]byte, error) { return d, nil }

func (d document) ServerRelativeURL() string { return "/openapi/v3" }
