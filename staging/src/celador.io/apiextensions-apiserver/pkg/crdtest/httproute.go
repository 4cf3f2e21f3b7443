// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdtest

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// HTTPRoute returns an established CustomResourceDefinition with the shape of the Gateway API's
// HTTPRoute: each version has the same schema, with 72 validation rules on 14 nodes. The first
// version is the storage version.
func HTTPRoute(versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := New()
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: "httproutes", Singular: "httproute", Kind: "HTTPRoute", ListKind: "HTTPRouteList"}
	crd.Name, crd.UID = "httproutes.example.com", types.UID("httproutes-1")
	crd.Spec.Names, crd.Status.AcceptedNames = names, names
	for i, name := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: i == 0,
			Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: httpRoute()},
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		})
	}
	return crd
}

// HTTPRouteObject returns a valid custom resource of HTTPRoute in a version. It reaches most of the
// rules: it has three rules with two matches and two backends each, and filters of five types.
func HTTPRouteObject(version string) *unstructured.Unstructured {
	headers := map[string]any{"set": []any{map[string]any{"name": "x-env", "value": "prod"}}, "remove": []any{"x-debug"}}
	backend := func(name string, weight int64, filters ...any) any {
		b := map[string]any{"group": "", "kind": "Service", "name": name, "port": int64(8080), "weight": weight}
		if len(filters) > 0 {
			b["filters"] = filters
		}
		return b
	}
	match := func(kind, value string) any {
		return map[string]any{
			"path":    map[string]any{"type": kind, "value": value},
			"headers": []any{map[string]any{"type": "Exact", "name": "version", "value": "two"}},
			"method":  "GET",
		}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version,
		"kind":       "HTTPRoute",
		"metadata":   map[string]any{"name": "shop", "namespace": "default"},
		"spec": map[string]any{
			"parentRefs": []any{
				map[string]any{"group": "example.com", "kind": "Gateway", "name": "public", "sectionName": "http"},
				map[string]any{"group": "example.com", "kind": "Gateway", "name": "public", "sectionName": "https"},
			},
			"hostnames": []any{"shop.example.com", "www.shop.example.com"},
			"rules": []any{
				map[string]any{
					"name":    "catalog",
					"matches": []any{match("PathPrefix", "/catalog"), match("Exact", "/catalog.json")},
					"filters": []any{
						map[string]any{"type": "RequestHeaderModifier", "requestHeaderModifier": headers},
						map[string]any{"type": "URLRewrite", "urlRewrite": map[string]any{
							"hostname": "catalog.internal",
							"path":     map[string]any{"type": "ReplaceFullPath", "replaceFullPath": "/"},
						}},
					},
					"backendRefs": []any{backend("catalog", 9), backend("catalog-next", 1)},
					"timeouts":    map[string]any{"request": "10s", "backendRequest": "2s"},
				},
				map[string]any{
					"name":    "cart",
					"matches": []any{match("PathPrefix", "/cart"), match("RegularExpression", "/carts?/[0-9]+")},
					"filters": []any{map[string]any{"type": "RequestMirror", "requestMirror": map[string]any{
						"backendRef": map[string]any{"kind": "Service", "name": "audit", "port": int64(80)},
					}}},
					"backendRefs": []any{
						backend("cart", 1, map[string]any{"type": "ResponseHeaderModifier", "responseHeaderModifier": headers}),
						backend("cart-next", 1),
					},
					"timeouts": map[string]any{"request": "30s", "backendRequest": "30s"},
				},
				map[string]any{
					"name":    "old",
					"matches": []any{match("Exact", "/old"), match("Exact", "/older")},
					"filters": []any{map[string]any{"type": "RequestRedirect", "requestRedirect": map[string]any{
						"scheme": "https", "statusCode": int64(301),
						"path": map[string]any{"type": "ReplaceFullPath", "replaceFullPath": "/catalog"},
					}}},
				},
			},
		},
	}}
}

func httpRoute() *apiextensionsv1.JSONSchemaProps {
	route := object(properties{
		"spec": object(properties{
			"parentRefs": list(32, object(properties{
				"group":     text(253),
				"kind":      text(63),
				"namespace": text(63),
				"name":      text(253), "sectionName": text(253),
				"port": integer(1, 65535),
			}, "group", "kind", "name")).with(
				rule("every parent of the same name must have its own sectionName or port",
					"self.all(a, self.exists_one(b, a.name == b.name && a.group == b.group && a.kind == b.kind"+
						" && (has(a.sectionName) ? has(b.sectionName) && a.sectionName == b.sectionName : !has(b.sectionName))"+
						" && (has(a.port) ? has(b.port) && a.port == b.port : !has(b.port))))"),
				rule("sectionName must be set on all references to a parent, or on none of them",
					"self.all(a, self.all(b, a.name != b.name || has(a.sectionName) == has(b.sectionName)))"),
			),
			"hostnames": list(16, text(253)),
			"rules": list(16, routeRule()).with(
				rule("all rules together must have at most 128 matches", "self.map(r, has(r.matches) ? size(r.matches) : 0).sum() <= 128"),
			),
		}),
		"status": object(properties{"parents": list(32, object(properties{"controllerName": text(253)}))}),
	}, "spec")
	return &route.JSONSchemaProps
}

func routeRule() node {
	return object(properties{
		"name":        text(253),
		"matches":     list(64, routeMatch()),
		"filters":     filters(),
		"backendRefs": list(16, routeBackend()),
		"timeouts": object(properties{"request": duration(), "backendRequest": duration()}).with(
			rule("backendRequest must not be longer than request", "!has(self.request) || !has(self.backendRequest) || duration(self.request) == duration('0s') || duration(self.backendRequest) <= duration(self.request)"),
		),
	}).with(
		rule("a redirect must not have backends",
			"!has(self.backendRefs) || self.backendRefs.size() == 0 || !has(self.filters) || !self.filters.exists(f, has(f.requestRedirect))"),
		replacesPrefix("redirect", "!has(self.filters) || !self.filters.exists(f, %s)", "requestRedirect"),
		replacesPrefix("rewrite", "!has(self.filters) || !self.filters.exists(f, %s)", "urlRewrite"),
		replacesPrefix("redirect of a backend", "!has(self.backendRefs) || !self.backendRefs.exists(b, has(b.filters) && b.filters.exists(f, %s))", "requestRedirect"),
		replacesPrefix("rewrite of a backend", "!has(self.backendRefs) || !self.backendRefs.exists(b, has(b.filters) && b.filters.exists(f, %s))", "urlRewrite"),
	)
}

// replacesPrefix returns a rule for a filter that replaces the prefix of a path. none is the
// condition that no filter does.
func replacesPrefix(what, none, property string) apiextensionsv1.ValidationRule {
	none = fmt.Sprintf(none, fmt.Sprintf("has(f.%[1]s) && has(f.%[1]s.path) && f.%[1]s.path.type == 'ReplacePrefixMatch'", property))
	return rule("a "+what+" that replaces the prefix needs a single match by PathPrefix",
		none+" || (has(self.matches) && self.matches.size() == 1 && has(self.matches[0].path) && self.matches[0].path.type == 'PathPrefix')")
}

func routeMatch() node {
	path := object(properties{"type": text(32), "value": text(1024)}).with(
		rule("value must be absolute", "self.type == 'RegularExpression' || self.value.startsWith('/')"),
		rule("type must be Exact, PathPrefix or RegularExpression", "self.type in ['Exact', 'PathPrefix', 'RegularExpression']"),
		rule("Exact and PathPrefix allow the characters of a path only", "self.type == 'RegularExpression' || self.value.matches('^[-A-Za-z0-9/._~!$&*+,;=:@%]+$')"),
	)
	for _, part := range []string{"//", "/./", "/../", "%2f", "%2F", "#", "\\\\"} {
		path = path.with(rule(fmt.Sprintf("value must not contain '%s'", part),
			fmt.Sprintf("self.type == 'RegularExpression' || !self.value.contains('%s')", part)))
	}
	for _, suffix := range []string{"/..", "/."} {
		path = path.with(rule(fmt.Sprintf("value must not end with '%s'", suffix),
			fmt.Sprintf("self.type == 'RegularExpression' || !self.value.endsWith('%s')", suffix)))
	}
	pair := object(properties{"type": text(32), "name": text(256), "value": text(4096)}, "name", "value")
	path.Required = []string{"type", "value"}
	return object(properties{"path": path, "headers": list(16, pair), "queryParams": list(16, pair), "method": text(16)})
}

func routeBackend() node {
	backend := object(properties{"weight": integer(0, 1000000), "filters": filters()}, "name").with(servicePort())
	for name, property := range reference() {
		backend.Properties[name] = property.JSONSchemaProps
	}
	return backend
}

// filterTypes holds the types of filters with the names of the properties that configure them.
var filterTypes = []struct{ name, property string }{
	{"RequestHeaderModifier", "requestHeaderModifier"},
	{"ResponseHeaderModifier", "responseHeaderModifier"},
	{"RequestMirror", "requestMirror"},
	{"RequestRedirect", "requestRedirect"},
	{"URLRewrite", "urlRewrite"},
	{"ExtensionRef", "extensionRef"},
}

func filters() node {
	header := object(properties{"name": text(256), "value": text(4096)}, "name", "value")
	headers := object(properties{"set": list(16, header), "add": list(16, header), "remove": list(16, text(256))})
	filter := object(properties{
		"type":                   text(32),
		"requestHeaderModifier":  headers,
		"responseHeaderModifier": headers,
		"requestMirror":          object(properties{"backendRef": object(reference(), "name")}),
		"requestRedirect": object(properties{
			"scheme": text(8), "hostname": text(253), "path": pathModifier(), "port": integer(1, 65535), "statusCode": integer(301, 308),
		}),
		"urlRewrite":   object(properties{"hostname": text(253), "path": pathModifier()}),
		"extensionRef": object(properties{"group": text(253), "kind": text(63), "name": text(253)}, "name"),
	}, "type")
	all := list(16, filter).with(rule("a list must not have both a RequestRedirect and a URLRewrite",
		"!(self.exists(f, f.type == 'RequestRedirect') && self.exists(f, f.type == 'URLRewrite'))"))
	items := node{*all.Items.Schema}
	for _, t := range filterTypes {
		items = items.with(
			rule(t.property+" must not be set unless type is "+t.name, fmt.Sprintf("self.type == '%s' || !has(self.%s)", t.name, t.property)),
			rule(t.property+" must be set if type is "+t.name, fmt.Sprintf("self.type != '%s' || has(self.%s)", t.name, t.property)),
		)
		if !strings.HasSuffix(t.name, "Mirror") && t.name != "ExtensionRef" {
			all = all.with(rule(t.name+" must not be repeated", fmt.Sprintf("self.filter(f, f.type == '%s').size() <= 1", t.name)))
		}
	}
	all.Items.Schema = &items.JSONSchemaProps
	return all
}

func pathModifier() node {
	modifier := object(properties{"type": text(32), "replaceFullPath": text(1024), "replacePrefixMatch": text(1024)}, "type")
	for _, t := range []struct{ name, property string }{{"ReplaceFullPath", "replaceFullPath"}, {"ReplacePrefixMatch", "replacePrefixMatch"}} {
		modifier = modifier.with(
			rule(t.property+" must be set if type is "+t.name, fmt.Sprintf("self.type != '%s' || has(self.%s)", t.name, t.property)),
			rule("type must be "+t.name+" if "+t.property+" is set", fmt.Sprintf("!has(self.%s) || self.type == '%s'", t.property, t.name)),
		)
	}
	return modifier
}

// reference returns the properties of a reference to a backend.
func reference() properties {
	return properties{"group": text(253), "kind": text(63), "namespace": text(63), "name": text(253), "port": integer(1, 65535)}
}

func servicePort() apiextensionsv1.ValidationRule {
	return rule("port must be set for a Service", "(has(self.group) && self.group != '') || (has(self.kind) && self.kind != 'Service') || has(self.port)")
}
