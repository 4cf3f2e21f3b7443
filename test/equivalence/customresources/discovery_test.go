// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"
	"testing"
)

const aggregatedAs = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// compareDiscovery compares the discovery documents of the definitions. They must become equal.
func compareDiscovery(t *testing.T, p *pair, definitions []definition) {
	t.Helper()
	requests := []request{
		{Method: "GET", Path: "/apis"},
		{Method: "GET", Path: "/apis", Accept: asJSON + aggregatedAs},
		{Method: "GET", Path: "/apis", Accept: asYAML},
		{Method: "GET", Path: "/apis", Accept: asProtobuf},
		{Method: "GET", Path: "/apis/"},
		{Method: "GET", Path: "/api"},
		{Method: "GET", Path: "/"},
	}
	groups := map[string]bool{}
	for _, d := range definitions {
		if !groups[d.group()] {
			groups[d.group()] = true
			requests = append(requests, request{Method: "GET", Path: "/apis/" + d.group()}, request{Method: "GET", Path: "/apis/" + d.group(), Accept: asProtobuf})
		}
		for _, v := range d.versions() {
			path := "/apis/" + d.apiVersion(text(v, "name"))
			requests = append(requests, request{Method: "GET", Path: path}, request{Method: "GET", Path: path, Accept: asJSON + ";pretty=1"})
		}
	}
	for _, r := range requests {
		var theirs, ours answer
		eventuallyEqual(t, r.String(), func() bool {
			theirs, ours = newSession(p.sides[0]).do(t, r), newSession(p.sides[1]).do(t, r)
			theirs.Body, ours.Body = inOrder(theirs.Body), inOrder(ours.Body)
			if strings.Contains(r.Accept, aggregatedAs) || r.Path == "/apis" {
				// The entity tag is a hash of the body with its order.
				theirs.Header, ours.Header = withoutTag(theirs.Header), withoutTag(ours.Header)
			}
			return theirs == ours
		}, func() string { return differing(theirs, ours) })
	}
}

func withoutTag(header string) string {
	lines := slices.DeleteFunc(strings.Split(header, "\n"), func(line string) bool { return strings.HasPrefix(line, "Etag: ") })
	return strings.Join(lines, "\n")
}

// inOrder orders lists of a discovery document whose order is random on Kubernetes' server.
// Versions keep their order.
func inOrder(body string) string {
	text, layout, _ := strings.Cut(body, "\n(")
	t, err := parseTree([]byte(text))
	if err != nil {
		return body
	}
	t.walk(nil, func(path []string, value *tree) {
		if len(path) > 0 && value.kind == '[' && slices.Contains([]string{"groups", "items", "resources"}, path[len(path)-1]) {
			sort.SliceStable(value.values, func(i, j int) bool { return discoveryKey(value.values[i]) < discoveryKey(value.values[j]) })
		}
	})
	return t.String() + layout
}

func discoveryKey(t *tree) string {
	return t.get("name").text() + t.get("metadata", "name").text() + t.get("resource").text()
}

// compareOpenAPI compares the OpenAPI documents. They must become equal.
func compareOpenAPI(t *testing.T, p *pair) {
	t.Helper()
	get := func(side int, path string) map[string]any {
		s := p.sides[side].servers[0]
		response, err := s.client.Get(s.url + path)
		must(t, err)
		defer response.Body.Close()
		var document map[string]any
		must(t, json.NewDecoder(response.Body).Decode(&document))
		return document
	}
	compare := func(path string) {
		var theirs, ours string
		eventuallyEqual(t, path, func() bool {
			theirs, ours = indented(withoutOurWords(get(0, path))), indented(withoutOurWords(get(1, path)))
			return theirs == ours
		}, func() string { return differing(theirs, ours) })
	}
	compare("/openapi/v2")
	var theirs, ours []string
	paths := func(side int) []string {
		documents := object(get(side, "/openapi/v3"), "paths")
		return slices.Sorted(maps.Keys(documents))
	}
	eventuallyEqual(t, "/openapi/v3", func() bool {
		theirs, ours = paths(0), paths(1)
		return slices.Equal(theirs, ours)
	}, func() string { return differing(theirs, ours) })
	for _, path := range theirs {
		compare("/openapi/v3/" + path)
	}
}

// modelPrefix is the prefix of the names of the models of group apiextensions.k8s.io.
const modelPrefix = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

// withoutOurWords removes what Celador says about the kinds of group apiextensions.k8s.io in words
// and fields of its own: descriptions, and the fields for expressions.
func withoutOurWords(document map[string]any) map[string]any {
	for _, schemas := range []map[string]any{object(document, "definitions"), object(document, "components", "schemas")} {
		for name, schema := range schemas {
			if strings.HasPrefix(name, modelPrefix) {
				schemas[name] = withoutDescriptions(schema)
			}
		}
		for _, name := range []string{"ConversionRule", "ConversionTable", "ConversionVariable", "Converter", "DefaultRule"} {
			delete(schemas, modelPrefix+name)
		}
		delete(object(schemas[modelPrefix+"CustomResourceConversion"], "properties"), "converters")
		delete(object(schemas[modelPrefix+"CustomResourceConversion"], "properties"), "tables")
		delete(object(schemas[modelPrefix+"JSONSchemaProps"], "properties"), "x-kubernetes-default")
	}
	return document
}

func withoutDescriptions(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if _, isText := value["description"].(string); isText {
			delete(value, "description")
		}
		for _, element := range value {
			withoutDescriptions(element)
		}
	case []any:
		for _, element := range value {
			withoutDescriptions(element)
		}
	}
	return value
}

func indented(document map[string]any) string {
	text, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}
