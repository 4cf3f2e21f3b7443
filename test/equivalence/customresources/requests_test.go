// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/yaml"

	"celador.io/celador/test/equivalence/harness"
)

// Media types.
const (
	asJSON       = "application/json"
	asYAML       = "application/yaml"
	asCBOR       = "application/cbor"
	asProtobuf   = "application/vnd.kubernetes.protobuf"
	jsonPatch    = "application/json-patch+json"
	mergePatch   = "application/merge-patch+json"
	strategic    = "application/strategic-merge-patch+json"
	applyYAML    = "application/apply-patch+yaml"
	applyCBOR    = "application/apply-patch+cbor"
	tableAs      = ";as=Table;v=v1;g=meta.k8s.io"
	metadataAs   = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	metadataList = ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
)

// A scenario is a sequence of requests for the resources of one definition.
type scenario struct {
	Definition string
	Requests   []request
}

// requests generates the requests of one scenario.
type requests struct {
	*generator
	definition definition
	namespace  string
	names      []string
	cbor       bool
}

// scenario returns a generated scenario.
func (g *generator) scenario(d definition, number int, cbor bool) scenario {
	r := &requests{g, d, fmt.Sprintf("n%d", number), nil, cbor}
	for _, letter := range "abc" {
		r.names = append(r.names, fmt.Sprintf("%c%d", letter, number))
	}
	s := scenario{Definition: d.name()}
	add := func(more ...request) { s.Requests = append(s.Requests, more...) }
	if g.Chance(30) {
		add(r.watch())
	}
	version := r.version()
	add(r.post(version, r.valid(version, r.names[0]), ""))
	if g.Chance(60) {
		add(r.post(version, r.valid(version, r.names[1]), ""))
	}
	for range 5 + g.IntN(8) {
		add(r.any()...)
	}
	return s
}

// any returns one generated request, or several that belong together.
func (r *requests) any() []request {
	one := func(generate func() request) func() []request {
		return func() []request { return []request{generate()} }
	}
	return harness.Pick(r,
		one(r.create), one(r.create), one(r.create), one(r.update), one(r.update), r.reread, r.reread,
		one(r.jsonPatch), one(r.mergePatch), one(r.mergePatch), one(r.apply), one(r.apply), one(r.apply), one(r.apply),
		one(r.status), one(r.status), one(r.scale), one(r.scale),
		one(r.get), one(r.get), one(r.list), one(r.list), one(r.list), r.pages, r.cached, one(r.watch),
		one(r.delete), one(r.delete), one(r.deleteCollection), one(r.odd), one(r.odd), one(r.strange),
	)()
}

// version returns a version, which is served with few exceptions.
func (r *requests) version() string {
	if r.Chance(2) {
		return harness.Pick(r, "v9", r.definition.storageVersion(), "v1alpha1")
	}
	return harness.Pick(r, r.definition.served()...)
}

func (r *requests) name() string {
	if r.Chance(3) {
		return "missing"
	}
	return harness.Pick(r, r.names...)
}

// valid returns an object that its schema allows, as far as generated values do.
func (r *requests) valid(version, name string) map[string]any {
	return r.object(version, name, 0)
}

// object returns an object of which the given percentage of values is wrong.
func (r *requests) object(version, name string, wrong int) map[string]any {
	v := &values{r.Generator, wrong}
	o, _ := v.value(r.definition.schema(version)).(map[string]any)
	if o == nil {
		o = map[string]any{}
	}
	o["apiVersion"], o["kind"] = r.definition.apiVersion(version), r.definition.kind()
	o["metadata"] = r.metadata(name, wrong)
	return o
}

func (r *requests) metadata(name string, wrong int) map[string]any {
	m := map[string]any{"name": name}
	if r.Chance(70) {
		m["labels"] = map[string]any{"tier": harness.Pick(r, "a", "b", "c")}
	}
	if r.Chance(20) {
		m["annotations"] = map[string]any{"note": harness.Pick(r, "x", "y", "<&>")}
	}
	if r.Chance(10) {
		m["finalizers"] = harness.Pick(r, []any{"example.com/keep"}, []any{"example.com/one", "example.com/two"}, []any{"orphan"})
	}
	if r.Chance(5) {
		m["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "1-2-3", "blockOwnerDeletion": true}}
	}
	if r.definition.namespaced() && r.Chance(30) {
		m["namespace"] = r.namespace
	}
	if r.Chance(3) {
		m["generation"], m["creationTimestamp"] = 17, nil
	}
	if r.Chance(wrong * 2) {
		key := harness.Pick(r, "labels", "annotations", "finalizers", "ownerReferences", "managedFields", "namespace", "name", "uid", "resourceVersion", "creationTimestamp", "generateName", "strange", "deletionTimestamp", "selfLink")
		m[key] = harness.Pick[any](r, nil, 5, "x", "Not_valid!", []any{}, []any{5}, []any{map[string]any{}}, map[string]any{"a": 5}, map[string]any{"a b": "c"}, map[string]any{"a": "x y"}, map[string]any{"a": nil}, "")
	}
	return m
}

// wrongness is the percentage of wrong values in most requests.
func (r *requests) wrongness() int { return harness.Pick(r, 0, 0, 0, 4, 10) }

// write returns a query for writing requests.
func (r *requests) write() url.Values {
	query := url.Values{}
	if r.Chance(15) {
		query.Set("dryRun", harness.Pick(r, "All", "All", "All", "Some"))
	}
	if r.Chance(50) {
		query.Set("fieldValidation", harness.Pick(r, "Strict", "Warn", "Ignore", "Strict", "Warn", "Other"))
	}
	if r.Chance(30) {
		query.Set("fieldManager", harness.Pick(r, "manager-a", "manager-b", "bad\tmanager", strings.Repeat("m", 130)))
	}
	return query
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	// Braces of placeholders stay.
	return path + "?" + strings.NewReplacer("%7B%7B", "{{", "%7D%7D", "}}", "%7B%7Brv+", "{{rv ").Replace(strings.ReplaceAll(query.Encode(), "%7B%7Brv+", "{{rv "))
}

// body encodes a value as JSON, YAML or CBOR.
func (r *requests) body(value any) (contentType string, body []byte) {
	text := encode(value)
	switch choice := r.IntN(10); {
	// Placeholders have another length than what replaces them.
	case r.cbor && choice < 5 && !bytes.Contains(text, []byte("{{")):
		encoded, err := direct.Marshal(plain(value))
		if err != nil {
			return asJSON, text
		}
		return asCBOR, encoded
	case choice >= 8:
		converted, err := yaml.JSONToYAML(text)
		if err != nil {
			return asJSON, text
		}
		return asYAML, converted
	}
	if r.Chance(5) {
		// A field that occurs twice.
		text = []byte(strings.Replace(string(text), `{"`, `{"kind":"Twice","spec":{"f0":1,"f0":2},"`, 1))
	}
	return asJSON, text
}

// plain replaces json.Number, which has no form in CBOR.
func plain(value any) any {
	switch value := value.(type) {
	case map[string]any:
		result := map[string]any{}
		for key, element := range value {
			result[key] = plain(element)
		}
		return result
	case []any:
		result := []any{}
		for _, element := range value {
			result = append(result, plain(element))
		}
		return result
	case json.Number:
		if integer, err := value.Int64(); err == nil {
			return integer
		}
		float, err := value.Float64()
		if err != nil {
			return math.MaxInt64
		}
		return float
	case int:
		return int64(value)
	}
	return value
}

// accept returns an Accept header.
func (r *requests) accept() string {
	if r.cbor && r.Chance(40) {
		return harness.Pick(r, asCBOR, asCBOR, asCBOR+tableAs, asCBOR+metadataAs)
	}
	if r.Chance(75) {
		return ""
	}
	return harness.Pick(r, asJSON, asYAML, asJSON+";pretty=1", asProtobuf, asProtobuf+","+asJSON, asJSON+tableAs, asJSON+metadataAs, asJSON+tableAs+","+asJSON, asProtobuf+metadataAs, asProtobuf+tableAs,
		asYAML+tableAs, "text/plain", "*/*", asCBOR, asJSON+";as=Table;v=v1beta1;g=meta.k8s.io", asJSON+";as=Unknown;v=v1;g=meta.k8s.io", asJSON+metadataList)
}

// post returns a request that creates an object.
func (r *requests) post(version string, o any, query string) request {
	contentType, body := r.body(o)
	path := r.definition.path(version, r.namespace)
	if query != "" {
		path += "?" + query
	}
	return request{Method: "POST", Path: path, ContentType: contentType, Body: body}
}

func (r *requests) create() request {
	version, name := r.version(), r.name()
	o := r.object(version, name, r.wrongness())
	query := r.write()
	if r.Chance(10) {
		o["metadata"] = map[string]any{"generateName": "gen-"}
		query.Set("dryRun", "All")
	}
	if r.definition.byWebhook() && r.Chance(15) {
		o["metadata"] = map[string]any{"name": name, "labels": map[string]any{"conversion": harness.Pick(r, "fail", "drop", "rename", "kind", "version", "uid", "status")}}
		query.Set("dryRun", "All")
	}
	result := r.post(version, o, query.Encode())
	result.Accept = r.accept()
	return result
}

func (r *requests) update() request {
	version, name := r.version(), r.name()
	o := r.object(version, name, r.wrongness())
	object(o, "metadata")["resourceVersion"] = harness.Pick(r, "{{rv "+name+"}}", "{{rv "+name+"}}", "{{rv "+name+"}}", "{{oldrv "+name+"}}", "", "1", "none")
	if r.Chance(10) {
		object(o, "metadata")["uid"] = harness.Pick(r, "{{uid "+name+"}}", "00000000-0000-0000-0000-000000000001")
	}
	contentType, body := r.body(o)
	return request{Method: "PUT", Path: withQuery(r.definition.path(version, r.namespace)+"/"+name, r.write()), ContentType: contentType, Body: body, Accept: r.accept()}
}

// reread gets an object and updates it with a merge patch that carries its resource version.
func (r *requests) reread() []request {
	version, name := r.version(), r.name()
	path := r.definition.path(version, r.namespace) + "/" + name
	v := &values{r.Generator, r.wrongness()}
	patch := map[string]any{"metadata": map[string]any{"resourceVersion": harness.Pick(r, "{{rv "+name+"}}", "{{oldrv "+name+"}}")}, "spec": v.value(orEmpty(object(r.definition.schema(version), "properties", "spec")))}
	return []request{{Method: "GET", Path: path}, {Method: "PATCH", Path: withQuery(path, r.write()), ContentType: mergePatch, Body: encode(patch)}}
}

func orEmpty(s map[string]any) map[string]any {
	if s == nil {
		return map[string]any{"type": "object"}
	}
	return s
}

func (r *requests) jsonPatch() request {
	version, name := r.version(), r.name()
	v := &values{r.Generator, r.wrongness()}
	properties := object(r.definition.schema(version), "properties", "spec", "properties")
	paths := []string{"/spec/unknown", "/metadata/labels/tier", "/metadata/annotations/new", "/spec", "/status", "/metadata/finalizers/-"}
	for _, field := range slices.Sorted(maps.Keys(properties)) {
		paths = append(paths, "/spec/"+field, "/spec/"+field+"/0", "/spec/"+field+"/f0", "/spec/"+field+"/-")
	}
	var patch []any
	for range 1 + r.IntN(3) {
		path := harness.Pick(r, paths...)
		op := harness.Pick(r, "add", "add", "add", "replace", "replace", "remove", "test", "copy", "move", "other")
		step := map[string]any{"op": op, "path": path}
		switch op {
		case "copy", "move":
			step["from"] = harness.Pick(r, paths...)
		case "remove":
		default:
			step["value"] = v.anything(1)
			if schema, ok := properties[strings.TrimPrefix(path, "/spec/")].(map[string]any); ok {
				step["value"] = v.value(schema)
			}
			if strings.HasPrefix(path, "/metadata") {
				step["value"] = harness.Pick[any](r, "a", "example.com/two")
			}
		}
		patch = append(patch, step)
	}
	var body any = patch
	if r.Chance(5) {
		body = harness.Pick[any](r, map[string]any{}, nil, "x", []any{5}, []any{map[string]any{"op": "remove", "path": "/kind"}}, []any{map[string]any{"op": "replace", "path": "/metadata/name", "value": "z"}})
	}
	return request{Method: "PATCH", Path: withQuery(r.definition.path(version, r.namespace)+"/"+name, r.write()), ContentType: jsonPatch, Body: encode(body), Accept: r.accept()}
}

func (r *requests) mergePatch() request {
	version, name := r.version(), r.name()
	o := r.object(version, name, r.wrongness())
	fields := object(o, "spec")
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case r.Chance(40):
			delete(fields, field)
		case r.Chance(20):
			fields[field] = nil
		}
	}
	if r.Chance(50) {
		delete(o, "metadata")
	}
	if r.Chance(70) {
		delete(o, "apiVersion")
		delete(o, "kind")
	}
	body := encode(o)
	if r.Chance(4) {
		body = harness.Pick(r, []byte(`[]`), []byte(`null`), []byte(`{"metadata":{"finalizers":null}}`), []byte(`{"kind":"Other"}`), []byte(`{"apiVersion":"v1"}`), []byte(`{"metadata":{"name":"z"}}`), []byte(`{"metadata":null}`), []byte(`{"metadata":{"namespace":"z"}}`), []byte(`{"spec":`))
	}
	return request{Method: "PATCH", Path: withQuery(r.definition.path(version, r.namespace)+"/"+name, r.write()), ContentType: harness.Pick(r, mergePatch, mergePatch, mergePatch, mergePatch, mergePatch, strategic, asJSON), Body: body, Accept: r.accept()}
}

func (r *requests) apply() request {
	version, name := r.version(), r.name()
	return r.applied(version, name, "", r.object(version, name, r.wrongness()))
}

func (r *requests) applied(version, name, subresource string, o map[string]any) request {
	query := r.write()
	if !r.Chance(5) {
		query.Set("fieldManager", harness.Pick(r, "manager-a", "manager-b"))
	}
	if r.Chance(40) {
		query.Set("force", harness.Pick(r, "true", "true", "true", "false", "x"))
	}
	if r.Chance(4) {
		object(o, "metadata")["managedFields"] = []any{}
	}
	if r.Chance(3) {
		object(o, "metadata")["resourceVersion"] = "{{rv " + name + "}}"
	}
	body, contentType := encode(o), applyYAML
	switch {
	case r.cbor && r.Chance(50) && !bytes.Contains(body, []byte("{{")):
		if encoded, err := direct.Marshal(plain(o)); err == nil {
			body, contentType = encoded, applyCBOR
		}
	case r.Chance(5):
		contentType = applyCBOR
	case r.Chance(30):
		if converted, err := yaml.JSONToYAML(body); err == nil {
			body = converted
		}
	case r.Chance(4):
		body = harness.Pick(r, []byte(`{}`), []byte(`[]`), []byte(`a: b: c`), []byte("kind: X\nkind: Y\n"), []byte(``))
	}
	return request{Method: "PATCH", Path: withQuery(r.definition.path(version, r.namespace)+"/"+name+subresource, query), ContentType: contentType, Body: body, Accept: r.accept()}
}

func (r *requests) status() request {
	version, name := r.version(), r.name()
	path := r.definition.path(version, r.namespace) + "/" + name + "/status"
	o := r.object(version, name, r.wrongness())
	v := &values{r.Generator, r.wrongness()}
	if schema := object(r.definition.schema(version), "properties", "status"); schema != nil {
		o["status"] = v.value(schema)
	}
	if r.Chance(50) {
		if status, ok := o["status"].(map[string]any); ok {
			status["replicas"], status["selector"] = r.IntN(5), harness.Pick(r, "a=b", "bad selector!")
		}
	}
	switch r.IntN(5) {
	case 0:
		return request{Method: "GET", Path: path, Accept: r.accept()}
	case 1:
		object(o, "metadata")["resourceVersion"] = "{{rv " + name + "}}"
		contentType, body := r.body(o)
		return request{Method: "PUT", Path: withQuery(path, r.write()), ContentType: contentType, Body: body, Accept: r.accept()}
	case 2:
		return r.applied(version, name, "/status", o)
	case 3:
		return request{Method: harness.Pick(r, "PATCH", "PATCH", "DELETE", "POST"), Path: withQuery(path, r.write()), ContentType: jsonPatch, Body: encode([]any{map[string]any{"op": "add", "path": harness.Pick(r, "/status", "/status/f0", "/spec/f0"), "value": o["status"]}})}
	}
	return request{Method: "PATCH", Path: withQuery(path, r.write()), ContentType: mergePatch, Body: encode(map[string]any{"status": o["status"], "spec": o["spec"]}), Accept: r.accept()}
}

func (r *requests) scale() request {
	version, name := r.version(), r.name()
	path := r.definition.path(version, r.namespace) + "/" + name + "/scale"
	replicas := harness.Pick[any](r, 1, 2, 3, 0, 200, -1, "x", nil)
	o := map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": map[string]any{"name": name, "namespace": r.namespace}, "spec": map[string]any{"replicas": replicas}}
	if !r.definition.namespaced() {
		delete(object(o, "metadata"), "namespace")
	}
	switch r.IntN(6) {
	case 0:
		return request{Method: "GET", Path: path, Accept: r.accept()}
	case 1:
		object(o, "metadata")["resourceVersion"] = harness.Pick(r, "{{rv "+name+"}}", "{{oldrv "+name+"}}")
		contentType, body := r.body(o)
		return request{Method: "PUT", Path: withQuery(path, r.write()), ContentType: contentType, Body: body, Accept: r.accept()}
	case 2:
		return r.applied(version, name, "/scale", o)
	case 3:
		return request{Method: "PATCH", Path: withQuery(path, r.write()), ContentType: jsonPatch, Body: encode([]any{map[string]any{"op": "replace", "path": "/spec/replicas", "value": replicas}})}
	case 4:
		return request{Method: "PATCH", Path: withQuery(path, r.write()), ContentType: strategic, Body: encode(map[string]any{"spec": o["spec"]})}
	}
	return request{Method: "PATCH", Path: withQuery(path, r.write()), ContentType: mergePatch, Body: encode(map[string]any{"spec": o["spec"]}), Accept: r.accept()}
}

func (r *requests) get() request {
	version, name := r.version(), r.name()
	query := url.Values{}
	if r.Chance(10) {
		query.Set("pretty", harness.Pick(r, "true", "1", "x"))
	}
	if r.Chance(10) {
		query.Set("resourceVersion", harness.Pick(r, "x", "{{rv "+name+"}}"))
	}
	if r.Chance(15) {
		query.Set("includeObject", harness.Pick(r, "None", "Metadata", "Object", "Other"))
	}
	return request{Method: harness.Pick(r, "GET", "GET", "GET", "GET", "HEAD"), Path: withQuery(r.definition.path(version, r.namespace)+"/"+name, query), Accept: r.accept()}
}

var labelSelectors = []string{"tier=a", "tier!=b", "tier in (a,b)", "!absent", "tier"}

// selectors returns a query that selects objects.
func (r *requests) selectors(version string) url.Values {
	query := url.Values{}
	if r.Chance(30) {
		query.Set("labelSelector", harness.Pick(r, append(labelSelectors, "tier=c", "a b", "tier notin (a)", "=")...))
	}
	if r.Chance(30) {
		fields := []string{"metadata.name=" + r.names[0], "metadata.name!=" + r.names[0], "metadata.namespace=" + r.namespace, "spec.nothing=x", "bad", "metadata.name=" + r.names[0] + ",metadata.name=" + r.names[1]}
		for _, path := range r.definition.selectable(version) {
			field := strings.TrimPrefix(path, ".")
			fields = append(fields, field+"="+harness.Pick(r, "a", "abc", "3", "true", ""), field+"!="+harness.Pick(r, "a", "abc", "3", "true", ""), field+"=a,metadata.name="+r.names[0])
		}
		query.Set("fieldSelector", harness.Pick(r, fields...))
	}
	return query
}

func (r *requests) list() request {
	version := r.version()
	query := r.selectors(version)
	if r.Chance(25) {
		query.Set("limit", harness.Pick(r, "1", "2", "0", "x", "-1"))
	}
	if r.Chance(10) {
		query.Set("resourceVersion", harness.Pick(r, "{{listed}}", "x", "99999999999"))
		if r.Chance(70) {
			query.Set("resourceVersionMatch", harness.Pick(r, "Exact", "NotOlderThan", "Other"))
		}
		if query.Get("resourceVersion") == "99999999999" {
			// Otherwise, the server waits for a future version.
			query.Set("resourceVersionMatch", "Exact")
		}
	}
	if r.Chance(5) {
		query.Set("continue", harness.Pick(r, "bad", "e30"))
	}
	if r.Chance(20) {
		query.Set("includeObject", harness.Pick(r, "None", "Metadata", "Object", "Other"))
	}
	namespace := r.namespace
	if r.Chance(25) {
		namespace = ""
	}
	return request{Method: "GET", Path: withQuery(r.definition.path(version, namespace), query), Accept: r.accept()}
}

// pages lists two pages.
func (r *requests) pages() []request {
	version := r.version()
	query := r.selectors(version)
	query.Set("limit", "1")
	path, accept := r.definition.path(version, r.namespace), r.accept()
	next := withQuery(path, query) + "&continue={{continue}}"
	return []request{{Method: "GET", Path: withQuery(path, query), Accept: accept}, {Method: "GET", Path: next, Accept: accept}}
}

// cached lists and gets from the watch cache.
func (r *requests) cached() []request {
	version := r.version()
	path := r.definition.path(version, r.namespace)
	query := r.selectors(version)
	query.Set("resourceVersion", "0")
	if r.Chance(30) {
		query.Set("limit", "1")
	}
	return []request{{Method: "GET", Path: path}, {Method: "GET", Path: withQuery(path, query), Accept: r.accept()}, {Method: "GET", Path: path + "/" + r.name() + "?resourceVersion=0", Accept: r.accept()}}
}

// watch opens a watch, which gets the marker at the end of the scenario.
func (r *requests) watch() request {
	version := harness.Pick(r, r.definition.served()...)
	query := url.Values{"watch": {"true"}, "timeoutSeconds": {"60"}}
	if r.Chance(30) {
		query.Set("labelSelector", harness.Pick(r, labelSelectors...))
	}
	if r.Chance(10) {
		query.Set("fieldSelector", harness.Pick(r, "metadata.name!="+r.names[0], "spec.nothing=x"))
	}
	switch {
	case r.Chance(30):
		query.Set("sendInitialEvents", "true")
		query.Set("resourceVersionMatch", harness.Pick(r, "NotOlderThan", "NotOlderThan", "NotOlderThan", "Exact"))
		query.Set("allowWatchBookmarks", harness.Pick(r, "true", "true", "true", "false"))
	case r.Chance(20):
		query.Set("allowWatchBookmarks", "true")
	case r.Chance(10):
		query.Set("resourceVersion", "x")
	}
	if r.Chance(15) {
		query.Set("includeObject", harness.Pick(r, "None", "Object"))
	}
	namespace := r.namespace
	if r.Chance(15) {
		namespace = ""
	}
	accept := harness.Pick(r, "", "", "", asJSON+tableAs, asJSON+metadataAs, asYAML, asProtobuf+metadataAs+","+asJSON)
	if strings.HasPrefix(accept, asProtobuf) {
		accept = ""
	}
	return request{Method: "GET", Path: withQuery(r.definition.path(version, namespace), query), Accept: accept, Watch: true}
}

// deleteOptions returns the body of a deletion.
func (r *requests) deleteOptions(name string) map[string]any {
	o := map[string]any{"apiVersion": harness.Pick(r, "v1", "v1", "meta.k8s.io/v1", r.definition.apiVersion(r.definition.served()[0])), "kind": "DeleteOptions"}
	if r.Chance(40) {
		o["preconditions"] = harness.Pick[any](r, map[string]any{"uid": "{{uid " + name + "}}"}, map[string]any{"uid": "00000000-0000-0000-0000-000000000001"}, map[string]any{"resourceVersion": "{{rv " + name + "}}"}, map[string]any{"resourceVersion": "{{oldrv " + name + "}}"})
	}
	if r.Chance(40) {
		o["propagationPolicy"] = harness.Pick(r, "Background", "Foreground", "Orphan", "Other")
	}
	if r.Chance(20) {
		o["gracePeriodSeconds"] = harness.Pick[any](r, 0, 5, -1)
	}
	if r.Chance(10) {
		o["dryRun"] = []any{harness.Pick(r, "All", "Some")}
	}
	if r.Chance(5) {
		o["orphanDependents"] = true
	}
	if r.Chance(5) {
		o["strange"] = harness.Pick[any](r, 1, nil)
	}
	return o
}

func (r *requests) delete() request {
	version, name := r.version(), r.name()
	result := request{Method: "DELETE", Path: r.definition.path(version, r.namespace) + "/" + name, Accept: r.accept()}
	switch {
	case r.Chance(50):
		result.ContentType, result.Body = r.body(r.deleteOptions(name))
	case r.Chance(30):
		result.Path += "?" + url.Values{harness.Pick(r, "propagationPolicy", "gracePeriodSeconds", "dryRun"): {harness.Pick(r, "Foreground", "0", "All")}}.Encode()
	}
	return result
}

func (r *requests) deleteCollection() request {
	version := r.version()
	query := r.selectors(version)
	if r.Chance(15) {
		query.Set("dryRun", "All")
	}
	result := request{Method: "DELETE", Path: withQuery(r.definition.path(version, r.namespace), query), Accept: r.accept()}
	if r.Chance(30) {
		result.ContentType, result.Body = r.body(r.deleteOptions(r.names[0]))
	}
	return result
}

// odd returns a request with a strange body.
func (r *requests) odd() request {
	version, name := r.version(), r.name()
	o := r.valid(version, name)
	contentType := harness.Pick(r, asJSON, asJSON, asJSON, asJSON, asYAML, asProtobuf, asCBOR, "text/plain", "", "application/json; charset=utf-8", mergePatch)
	var body []byte
	switch r.IntN(14) {
	case 0:
		o["kind"] = harness.Pick[any](r, "Other", "", nil, 5, "Scale", "Status")
		body = encode(o)
	case 1:
		o["apiVersion"] = harness.Pick[any](r, "v1", "", nil, 5, "a/b/c", r.definition.group()+"/v9", "other.example.com/v1")
		body = encode(o)
	case 2:
		body = harness.Pick(r, []byte("null"), []byte("[]"), []byte("5"), []byte(`"x"`), []byte("{"), []byte(""), []byte("{}"), []byte("{}{}"), []byte("true"))
	case 3:
		body = encode([]any{o})
	case 4:
		body = encode(map[string]any{"apiVersion": o["apiVersion"], "kind": r.definition.kind() + "List", "metadata": map[string]any{}, "items": []any{o}})
	case 5:
		body = append(encode(o), " trailing"...)
	case 6:
		body = []byte(strings.Replace(string(encode(o)), name, name+"\xff\xfe", 1))
	case 7:
		o["metadata"] = harness.Pick[any](r, nil, 5, []any{}, "x", map[string]any{})
		body = encode(o)
	case 8:
		o["spec"] = harness.Pick[any](r, json.Number("1e400"), json.Number("99999999999999999999999"), map[string]any{"f0": json.Number("1e400")}, map[string]any{"f0": json.Number("-0")}, map[string]any{"f0": json.Number("9223372036854775808")})
		body = encode(o)
	case 9:
		body = []byte(strings.Replace(string(encode(o)), `"spec":`, `"SPEC":{"f0":1},"Spec":`, 1))
	case 10:
		body = []byte(strings.Repeat(`{"spec":`, 20000) + "1" + strings.Repeat("}", 20000))
	case 11:
		object(o, "metadata")["name"] = harness.Pick[any](r, "Upper", "a_b", "", "a/b", strings.Repeat("x", 260), "..", "%")
		body = encode(o)
	case 12:
		object(o, "metadata")["namespace"] = harness.Pick[any](r, "other", "", "Not Valid")
		body = encode(o)
	case 13:
		body = []byte("k8s\x00\x0a\x02\x08\x01")
	}
	path := r.definition.path(version, r.namespace)
	method := "POST"
	if r.Chance(40) {
		method, path = "PUT", path+"/"+name
	}
	return request{Method: method, Path: withQuery(path, r.write()), ContentType: contentType, Body: body, Accept: r.accept()}
}

// strange returns a request for something that is not served.
func (r *requests) strange() request {
	version, name := r.version(), r.name()
	d := r.definition
	wrongScope := "/apis/" + d.apiVersion(version) + "/" + d.plural()
	if !d.namespaced() {
		wrongScope = "/apis/" + d.apiVersion(version) + "/namespaces/" + r.namespace + "/" + d.plural()
	}
	collection := d.path(version, r.namespace)
	body := encode(r.valid(version, name))
	return harness.Pick(r,
		request{Method: "GET", Path: wrongScope + "/" + name},
		request{Method: "POST", Path: wrongScope, Body: body, ContentType: asJSON},
		request{Method: "GET", Path: collection + "/" + name + "/other"},
		request{Method: "PUT", Path: collection + "/" + name + "/scale/more", Body: body, ContentType: asJSON},
		request{Method: "POST", Path: collection + "/" + name, Body: body, ContentType: asJSON},
		request{Method: "PUT", Path: collection, Body: body, ContentType: asJSON},
		request{Method: "PATCH", Path: collection, Body: body, ContentType: mergePatch},
		request{Method: "OPTIONS", Path: collection},
		request{Method: "GET", Path: "/apis/" + d.group()},
		request{Method: "GET", Path: "/apis/" + d.apiVersion(version), Accept: harness.Pick(r, "", asYAML, asProtobuf)},
		request{Method: "GET", Path: "/apis/" + d.apiVersion(version) + "/"},
		request{Method: "GET", Path: "/apis/" + d.group() + "/v9"},
		request{Method: "GET", Path: "/apis/" + d.group() + "/v9/" + d.plural()},
		request{Method: "GET", Path: "/apis/nothing.example.com"},
		request{Method: "GET", Path: "/apis/" + d.apiVersion(version) + "/nothings"},
		request{Method: "GET", Path: collection + "//" + name},
		request{Method: "POST", Path: "/apis/" + d.group(), Body: body, ContentType: asJSON},
		request{Method: "DELETE", Path: "/apis/" + d.apiVersion(version)},
		request{Method: "GET", Path: "/apis/" + d.apiVersion(version) + "/watch/" + d.plural() + "?timeoutSeconds=0&resourceVersion=x"},
	)
}
