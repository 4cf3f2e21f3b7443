// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"celador.io/celador/test/equivalence/harness"
)

// definitionRequests generates requests for CustomResourceDefinitions.
type definitionRequests struct{ *generator }

// damaged returns a definition in which some values are replaced, removed or repeated.
func (g *definitionRequests) damaged(d definition) definition {
	d = clone(d)
	for range 1 + g.IntN(2) {
		var parents []any
		var collect func(value any)
		collect = func(value any) {
			switch value := value.(type) {
			case map[string]any:
				if len(value) > 0 {
					parents = append(parents, value)
				}
				for _, key := range slices.Sorted(maps.Keys(value)) {
					collect(value[key])
				}
			case []any:
				if len(value) > 0 {
					parents = append(parents, value)
				}
				for _, element := range value {
					collect(element)
				}
			}
		}
		collect(map[string]any(d.spec()))
		junk := harness.Pick[any](g, nil, "", "x", "Wrong Name", -1, 1.5, true, false, []any{}, map[string]any{}, []any{"x", "x"}, map[string]any{"x": "y"}, "object", "array", json.Number("1e30"))
		switch parent := harness.Pick(g, parents...).(type) {
		case map[string]any:
			key := harness.Pick(g, slices.Sorted(maps.Keys(parent))...)
			switch g.IntN(5) {
			case 0:
				delete(parent, key)
			case 1:
				added := harness.Pick(g, "type", "format", "nullable", "default", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
					"x-kubernetes-int-or-string", "x-kubernetes-validations", "additionalProperties", "$ref", "uniqueItems", "preserveUnknownFields", "enum", "pattern", "items", "unknown", "schema", "conversion", "selectableFields", "metadata", "deprecationWarning", "allOf", "not")
				parent[added] = harness.Pick[any](g, junk, true, "[", map[string]any{"type": "string"}, []any{map[string]any{"rule": "self.x >"}}, []any{map[string]any{"rule": "true", "fieldPath": ".x", "reason": "No"}}, "set", "map", "atomic")
			default:
				parent[key] = junk
			}
		case []any:
			parent[g.IntN(len(parent))] = harness.Pick(g, junk, parent[0])
		}
	}
	return d
}

// encoded returns a body for a definition.
func (g *definitionRequests) encoded(d definition) (contentType string, body []byte) {
	r := &requests{generator: g.generator}
	if g.Chance(25) {
		var typed apiextensionsv1.CustomResourceDefinition
		if json.Unmarshal(encode(d), &typed) == nil {
			var b strings.Builder
			if protobuf.NewSerializer(messages, messages).Encode(&typed, &b) == nil {
				return asProtobuf, []byte(b.String())
			}
		}
	}
	return r.body(d)
}

// requests returns requests that create, change and delete one definition.
func (g *definitionRequests) requests(number int) (string, []request) {
	original := g.definition(1000 + number)
	if g.Chance(20) {
		original["metadata"].(map[string]any)["annotations"] = map[string]any{"note": "x"}
	}
	name := original.name()
	d := original
	if g.Chance(50) {
		d = g.damaged(d)
	}
	r := &requests{generator: g.generator}
	path := definitionsPath + "/" + name
	var all []request
	add := func(method, path, contentType string, body []byte) {
		all = append(all, request{Method: method, Path: withQuery(path, r.write()), ContentType: contentType, Body: body, Accept: r.accept()})
	}
	contentType, body := g.encoded(d)
	add("POST", definitionsPath, contentType, body)
	if g.Chance(40) {
		contentType, body := g.encoded(g.damaged(d))
		add("POST", definitionsPath, contentType, body)
	}
	all = append(all, request{Method: "POST", Path: definitionsPath, ContentType: asJSON, Body: encode(original)})
	for range 3 + g.IntN(3) {
		changed := g.damaged(original)
		if g.Chance(40) {
			changed = clone(original)
			version := changed.spec()["versions"].([]any)[0].(map[string]any)
			object(version, "schema", "openAPIV3Schema", "properties")["added"] = g.anySchema(1)
		}
		changed["metadata"].(map[string]any)["resourceVersion"] = "{{rv " + name + "}}"
		changed["status"] = map[string]any{"storedVersions": harness.Pick(g, []any{"v1"}, []any{"v1", "v2alpha1"}, []any{}), "conditions": []any{map[string]any{"type": "Custom", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z", "reason": "x", "message": "y"}}, "acceptedNames": original.spec()["names"]}
		switch g.IntN(12) {
		case 0, 1, 2:
			contentType, body := g.encoded(changed)
			add("PUT", path, contentType, body)
		case 3:
			contentType, body := g.encoded(changed)
			add("PUT", path+"/status", contentType, body)
		case 4:
			delete(changed, "status")
			delete(object(changed, "metadata"), "resourceVersion")
			all = append(all, request{Method: "PATCH", Path: path + "?fieldManager=manager-a&force=" + harness.Pick(g, "true", "false"), ContentType: applyYAML, Body: encode(changed), Accept: r.accept()})
		case 5:
			all = append(all, request{Method: "PATCH", Path: path + "/status?fieldManager=manager-b&force=true", ContentType: applyYAML,
				Body: encode(definition{"apiVersion": changed["apiVersion"], "kind": changed["kind"], "metadata": map[string]any{"name": name}, "status": map[string]any{"conditions": at(changed, "status", "conditions")}})})
		case 6:
			add("PATCH", path, harness.Pick(g, mergePatch, strategic), encode(map[string]any{"spec": changed.spec()}))
		case 7:
			add("PATCH", path, jsonPatch, encode([]any{map[string]any{"op": harness.Pick(g, "add", "replace", "remove"), "path": harness.Pick(g, "/spec/versions/0/served", "/spec/names/shortNames", "/metadata/labels", "/spec/versions/-", "/status", "/spec/scope"), "value": harness.Pick[any](g, true, false, []any{"x1"}, map[string]any{"a": "b"}, "Cluster")}}))
		case 8:
			all = append(all, request{Method: "GET", Path: path, Accept: harness.Pick(g, asJSON+tableAs, asJSON+metadataAs, asProtobuf, asYAML, asProtobuf+metadataAs, asCBOR, "")})
		case 9:
			all = append(all, request{Method: "GET", Path: definitionsPath + "?fieldSelector=metadata.name%3D" + name, Accept: harness.Pick(g, asJSON+tableAs, asJSON+metadataList, asProtobuf, asYAML, "")})
		case 10:
			all = append(all, request{Method: "GET", Path: path + "/status"}, request{Method: "GET", Path: path + "/scale"}, request{Method: "GET", Path: strings.Replace(path, "/v1/", "/v1beta1/", 1)})
		case 11:
			add("PATCH", path, mergePatch, encode(map[string]any{"metadata": map[string]any{"finalizers": harness.Pick[any](g, []any{"example.com/keep"}, []any{"customresourcecleanup.apiextensions.k8s.io"}, []any{}), "labels": map[string]any{"x": "y"}}}))
		}
	}
	contentType, body = r.body(map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": map[string]any{"uid": "{{uid " + name + "}}"}, "propagationPolicy": harness.Pick(g, "Foreground", "Background")})
	all = append(all, request{Method: "DELETE", Path: path, ContentType: contentType, Body: body, Accept: r.accept()})
	return name, all
}

// quiet returns when a server's controllers have stopped changing a definition.
func (s *server) quiet(t testing.TB, name string) {
	t.Helper()
	last, since := "", time.Now()
	eventually(t, s.name+" is done with "+name, func() bool {
		d := s.definition(t, name)
		if d == nil {
			return true
		}
		if now := fmt.Sprint(text(d, "metadata", "resourceVersion"), list(d, "status", "conditions")); now != last {
			last, since = now, time.Now()
		}
		// A definition whose status a client has changed may never be settled. The finalizer looks
		// for objects every five seconds.
		limit := 5 * time.Second
		if text(d, "metadata", "deletionTimestamp") != "" {
			limit = 8 * time.Second
		}
		unchanged := time.Since(since)
		return unchanged > limit || unchanged > 250*time.Millisecond && d.settled()
	})
}

// settled reports whether controllers have nothing to do for a definition, as far as its status
// tells.
func (d definition) settled() bool {
	if text(d, "metadata", "deletionTimestamp") != "" {
		return !slices.Contains(list(d, "metadata", "finalizers"), any("customresourcecleanup.apiextensions.k8s.io"))
	}
	conditions := map[string]string{}
	for _, condition := range list(d, "status", "conditions") {
		conditions[text(condition, "type")] = text(condition, "status")
	}
	return conditions["NamesAccepted"] != "" && (conditions["Established"] == "True" || conditions["NamesAccepted"] == "False" && conditions["Established"] == "False")
}

// onceFinalized reports whether one side has deleted a definition that the other will delete when
// its informer resyncs. The finalizer, which is Kubernetes' on both sides, gives up until then if
// another controller updates the status at the same time and its own update fails with a conflict.
func onceFinalized(r request, stored [2]string) bool {
	finalizing := func(object string) bool {
		return strings.Contains(object, `"deletionTimestamp"`) && strings.Contains(object, `"customresourcecleanup.apiextensions.k8s.io"`)
	}
	return r.Method == "DELETE" && (stored[0] == "" && finalizing(stored[1]) || stored[1] == "" && finalizing(stored[0]))
}

// compareDefinitionRequests compares the answers to requests for CustomResourceDefinitions, and the
// definitions' bytes in etcd.
func compareDefinitionRequests(t *testing.T, p *pair, seed uint64, count int) {
	t.Helper()
	statuses := make([]map[int]int, count)
	var group sync.WaitGroup
	workers := make(chan struct{}, 16)
	for number := range count {
		group.Go(func() {
			workers <- struct{}{}
			defer func() { <-workers }()
			t.Run(fmt.Sprint(number), func(t *testing.T) {
				g := &definitionRequests{&generator{harness.NewGenerator(seed, uint64(number))}}
				name, requests := g.requests(number)
				statuses[number] = map[int]int{}
				sessions := [2]*session{newSession(p.sides[0]), newSession(p.sides[1])}
				c := &comparison{}
				for i, r := range requests {
					if r.Method == "DELETE" {
						// The finalizer fails to list objects from a watch cache that is not filled
						// yet. It tries again at the next resync only.
						for _, s := range p.servers() {
							s.refresh(t, s.definition(t, name))
						}
					}
					c.compare(r, sessions[0].do(t, r), sessions[1].do(t, r))
					statuses[number][c.answers[len(c.answers)-1].Status]++
					if writes := r.Method != "GET" && c.answers[len(c.answers)-1].Status < 300; writes {
						for _, s := range sessions {
							s.backend.servers[0].quiet(t, name)
							// Remember the resource version that the controllers have left.
							s.do(t, request{Method: "GET", Path: definitionsPath + "/" + name})
						}
						stored := [2]string{}
						for side, s := range sessions {
							stored[side] = p.stored(t, s, s.backend.prefix+"/apiextensions.k8s.io/customresourcedefinitions/"+name)
						}
						if stored[0] != stored[1] && !onceFinalized(r, stored) {
							t.Errorf("stored in etcd after\n%s\n(-upstream +celador):\n%s", r, differing(stored[0], stored[1]))
						}
					}
					if c.unexplained != nil {
						for _, earlier := range requests[:i] {
							t.Logf("after\n%s", earlier)
						}
						t.Fatal(c.unexplained[0])
					}
				}
			})
		})
	}
	group.Wait()
	total := map[int]int{}
	for _, counts := range statuses {
		for status, n := range counts {
			total[status] += n
		}
	}
	t.Logf("%d definitions: %v", count, total)
}
