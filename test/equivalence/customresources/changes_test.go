// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A lockstep sends the same requests to both sides while a definition changes.
type lockstep struct {
	t        *testing.T
	pair     *pair
	sessions [2]*session
	// definition is the last that was sent. step is the default of spec.step, which shows whether a
	// server uses it.
	definition definition
	step       int
}

// inStep returns a lockstep of a pair, which creates the definition.
func inStep(t *testing.T, p *pair, d definition) *lockstep {
	l := &lockstep{t: t, pair: p, sessions: [2]*session{newSession(p.sides[0]), newSession(p.sides[1])}, definition: clone(d)}
	for _, s := range l.sessions {
		t.Cleanup(s.close)
	}
	l.mark()
	l.do(l.definition.create())
	l.settle()
	return l
}

// mark changes the default that shows which definition a server uses.
func (l *lockstep) mark() {
	l.step++
	for _, v := range l.definition.versions() {
		object(v, "schema", "openAPIV3Schema", "properties", "spec", "properties")["step"] = map[string]any{"type": "integer", "default": l.step}
	}
}

// settle returns when both servers use the definition.
func (l *lockstep) settle() {
	l.t.Helper()
	d := l.definition
	version := d.served()[0]
	for i, side := range l.sessions {
		s := side.backend.servers[0]
		s.quiet(l.t, d.name())
		body := encode(map[string]any{"apiVersion": d.apiVersion(version), "kind": d.kind(), "metadata": map[string]any{"name": "probe"}, "spec": map[string]any{}})
		eventually(l.t, fmt.Sprintf("%s serves step %d of %s", s.name, l.step, d.name()), func() bool {
			response, err := s.client.Post(s.url+d.path(version, "none")+"?dryRun=All", asJSON, bytes.NewReader(body))
			must(l.t, err)
			defer response.Body.Close()
			var o map[string]any
			must(l.t, json.NewDecoder(response.Body).Decode(&o))
			return at(o, "spec", "step") == float64(l.step)
		})
		s.refresh(l.t, d)
		l.sessions[i].do(l.t, request{Method: "GET", Path: definitionsPath + "/" + d.name()})
	}
}

// change updates the definition and waits until both servers use it.
func (l *lockstep) change(change func(spec map[string]any)) {
	l.t.Helper()
	change(l.definition.spec())
	l.mark()
	object(l.definition, "metadata")["resourceVersion"] = "{{rv " + l.definition.name() + "}}"
	a := l.do(request{Method: "PUT", Path: definitionsPath + "/" + l.definition.name(), ContentType: asJSON, Body: encode(l.definition)})
	if a.Status != http.StatusOK {
		l.t.Fatalf("upstream refuses the change: %s", a.Body)
	}
	l.settle()
}

// do sends a request to both sides, fails the test if the answers differ, and returns the upstream
// side's.
func (l *lockstep) do(r request) answer {
	l.t.Helper()
	if r.cached() {
		l.pair.refresh(l.t, l.definition)
	}
	c := &comparison{}
	c.compare(r, l.sessions[0].do(l.t, r), l.sessions[1].do(l.t, r))
	for _, text := range c.unexplained {
		l.t.Errorf("in step %d: %s", l.step, text)
	}
	return c.answers[0]
}

// gone returns when both servers have deleted the definition.
func (l *lockstep) gone() {
	l.t.Helper()
	for _, side := range l.sessions {
		s := side.backend.servers[0]
		for _, path := range []string{definitionsPath + "/" + l.definition.name(), l.definition.path(l.definition.served()[0], "n")} {
			eventually(l.t, s.name+" does not serve "+path, func() bool {
				response, err := s.client.Get(s.url + path)
				must(l.t, err)
				response.Body.Close()
				return response.StatusCode == http.StatusNotFound
			})
		}
	}
}

// stored compares the bytes of the objects and the definition in etcd.
func (l *lockstep) stored() {
	l.t.Helper()
	for _, prefix := range []string{"/" + l.definition.group() + "/", "/apiextensions.k8s.io/customresourcedefinitions/" + l.definition.name()} {
		theirs := l.pair.stored(l.t, l.sessions[0], l.sessions[0].backend.prefix+prefix)
		ours := l.pair.stored(l.t, l.sessions[1], l.sessions[1].backend.prefix+prefix)
		if theirs != ours {
			l.t.Errorf("stored at step %d (-upstream +celador):\n%s", l.step, differing(theirs, ours))
		}
	}
}

// watched compares the events of all watches. It returns after the servers have ended them.
func (l *lockstep) watched() {
	l.t.Helper()
	theirs, ours := l.sessions[0].finish(l.t, marker), l.sessions[1].finish(l.t, marker)
	if fmt.Sprint(theirs) != fmt.Sprint(ours) {
		l.t.Errorf("events at step %d (-upstream +celador):\n%s", l.step, differing(theirs, ours))
	}
	for _, a := range theirs {
		if !strings.HasSuffix(a.Body, `"(ended)"`) && !strings.HasSuffix(a.Body, "(ended)") {
			l.t.Errorf("at step %d, upstream has not ended the watch: %s", l.step, a.Body)
		}
	}
}

// box is a definition with one version.
func box(group string) definition {
	return definition{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "boxes." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "names": map[string]any{"plural": "boxes", "kind": "Box"},
			"versions": []any{boxVersion("v1", true)},
		},
	}
}

// boxVersion returns a version of box. Kubernetes refuses selectable fields in one of several
// versions with the same schema, so the schemas of versions differ.
func boxVersion(name string, storage bool) map[string]any {
	return map[string]any{"name": name, "served": true, "storage": storage, "schema": map[string]any{"openAPIV3Schema": map[string]any{
		"type": "object", "properties": map[string]any{
			"spec": map[string]any{"type": "object", "properties": map[string]any{
				"only-in-" + name: map[string]any{"type": "string"}, "text": map[string]any{"type": "string"}, "list": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}, "replicas": map[string]any{"type": "integer"},
			}},
			"status": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}, "replicas": map[string]any{"type": "integer"}}},
		},
	}}}
}

func (l *lockstep) object(method, version, name, fields string) request {
	path := l.definition.path(version, "n")
	if method == "PUT" || method == "PATCH" {
		path += "/" + name
	}
	contentType := asJSON
	if method == "PATCH" {
		contentType = applyYAML
		path += "?fieldManager=m&force=true"
	}
	body := fmt.Sprintf(`{"apiVersion":"%s","kind":"%s","metadata":{"name":"%s"},%s}`, l.definition.apiVersion(version), l.definition.kind(), name, fields)
	return request{Method: method, Path: path, ContentType: contentType, Body: []byte(body)}
}

func (l *lockstep) read(version, name, accept string) request {
	path := l.definition.path(version, "n")
	if name != "" {
		path += "/" + name
	}
	return request{Method: "GET", Path: path, Accept: accept}
}

func (l *lockstep) merge(version, name, subresource, patch string) request {
	return request{Method: "PATCH", Path: l.definition.path(version, "n") + "/" + name + subresource, ContentType: mergePatch, Body: []byte(patch)}
}

// TestChanges compares the servers while a definition changes, from its creation to its deletion.
func TestChanges(t *testing.T) {
	t.Parallel()
	l := inStep(t, apart(t), box("changes.example.com"))
	version := func(spec map[string]any, name string) map[string]any {
		for _, v := range spec["versions"].([]any) {
			if text(v, "name") == name {
				return v.(map[string]any)
			}
		}
		panic("no version " + name)
	}
	everything := func() {
		for _, v := range []string{"v1", "v2"} {
			l.do(l.read(v, "", ""))
			l.do(l.read(v, "", asJSON+tableAs))
			l.do(l.read(v, "a", ""))
			l.do(l.merge(v, "a", "", fmt.Sprintf(`{"spec":{"replicas":%d},"status":{"replicas":%d}}`, l.step, l.step)))
			l.do(l.merge(v, "a", "/status", fmt.Sprintf(`{"spec":{"replicas":100},"status":{"text":"s%d"}}`, l.step)))
			l.do(l.merge(v, "a", "/scale", `{"spec":{"replicas":7}}`))
			l.do(l.object("PATCH", v, "applied", fmt.Sprintf(`"spec":{"text":"t%d"}`, l.step)))
			l.do(request{Method: "GET", Path: "/apis/changes.example.com/" + v})
		}
		l.do(request{Method: "GET", Path: "/apis/changes.example.com"})
		l.stored()
	}
	l.do(l.object("POST", "v1", "a", `"spec":{"text":"long text","list":["x","x"]},"status":{"text":"s"}`))
	l.do(l.object("POST", "v1", "b", `"spec":{"text":"b"}`))
	everything()
	watch := l.read("v1", "", "")
	watch.Path += "?watch=true&timeoutSeconds=50"
	watch.Watch = true
	l.do(watch)

	for _, change := range []func(spec map[string]any){
		func(spec map[string]any) {
			spec["versions"] = append(spec["versions"].([]any), boxVersion("v2", false))
		},
		func(spec map[string]any) {
			version(spec, "v1")["storage"], version(spec, "v2")["storage"] = false, true
		},
		func(spec map[string]any) { version(spec, "v1")["served"] = false },
		func(spec map[string]any) {
			version(spec, "v1")["served"], version(spec, "v1")["deprecated"] = true, true
			version(spec, "v2")["subresources"] = map[string]any{"status": map[string]any{}, "scale": map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}
		},
		func(spec map[string]any) {
			version(spec, "v1")["deprecationWarning"] = "use v2"
			version(spec, "v1")["subresources"] = map[string]any{"status": map[string]any{}}
			delete(version(spec, "v2"), "subresources")
		},
		func(spec map[string]any) {
			version(spec, "v2")["additionalPrinterColumns"] = []any{map[string]any{"name": "Text", "type": "string", "jsonPath": ".spec.text"}}
			version(spec, "v2")["selectableFields"] = []any{map[string]any{"jsonPath": ".spec.text"}}
		},
		func(spec map[string]any) {
			// Objects that are stored already break these rules.
			for _, v := range []string{"v1", "v2"} {
				fields := object(version(spec, v), "schema", "openAPIV3Schema", "properties", "spec", "properties")
				fields["text"] = map[string]any{"type": "string", "maxLength": 3}
				fields["list"] = map[string]any{"type": "array", "x-kubernetes-list-type": "set", "items": map[string]any{"type": "string"}}
			}
		},
		func(spec map[string]any) {
			spec["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": webhookURL, "caBundle": webhookCA}}}
			spec["names"].(map[string]any)["shortNames"] = []any{"bx"}
			spec["names"].(map[string]any)["categories"] = []any{"all"}
		},
		func(spec map[string]any) { spec["conversion"] = map[string]any{"strategy": "None"} },
	} {
		l.change(change)
		if len(l.sessions[0].watches) > 0 {
			l.watched()
		}
		everything()
		l.do(l.merge("v2", "a", "", `{"spec":{"text":"longer text"}}`))
		l.do(l.merge("v2", "b", "", `{"spec":{"list":["y","y"]}}`))
		selected := l.read("v2", "", "")
		selected.Path += "?fieldSelector=spec.text%3Db"
		l.do(selected)
	}

	// A version cannot go while objects may be stored in it.
	definitionPath := definitionsPath + "/" + l.definition.name()
	withoutV1 := clone(l.definition)
	withoutV1.spec()["versions"] = []any{version(withoutV1.spec(), "v2")}
	object(withoutV1, "metadata")["resourceVersion"] = "{{rv " + l.definition.name() + "}}"
	l.do(request{Method: "PUT", Path: definitionPath, ContentType: asJSON, Body: encode(withoutV1)})
	l.do(request{Method: "PATCH", Path: definitionPath + "/status", ContentType: mergePatch, Body: []byte(`{"status":{"storedVersions":["v2"]}}`)})
	l.settle()
	l.change(func(spec map[string]any) { spec["versions"] = []any{version(spec, "v2")} })
	everything()

	// Deletion waits for an object with a finalizer, and forbids new objects meanwhile.
	l.do(l.merge("v2", "a", "", `{"metadata":{"finalizers":["example.com/keep"]}}`))
	watch = l.read("v2", "", "")
	watch.Path += "?watch=true&timeoutSeconds=50"
	watch.Watch = true
	l.do(watch)
	l.do(request{Method: "DELETE", Path: definitionPath})
	for _, side := range l.sessions {
		s := side.backend.servers[0]
		eventually(t, s.name+" deletes all objects that it can", func() bool {
			found, err := l.pair.store.Get(context.Background(), s.prefix+"/changes.example.com/boxes/n/b")
			must(t, err)
			return found.Count == 0
		})
	}
	l.do(l.object("POST", "v2", "late", `"spec":{}`))
	l.do(l.object("PATCH", "v2", "later", `"spec":{}`))
	l.do(l.merge("v2", "a", "", `{"metadata":{"labels":{"still":"here"}}}`))
	l.do(l.read("v2", "a", ""))
	l.do(l.read("v2", "", ""))
	l.do(l.merge("v2", "a", "", `{"metadata":{"finalizers":null}}`))
	l.gone()
	l.watched()
	l.do(l.read("v2", "a", ""))
	l.do(l.object("POST", "v2", "a", `"spec":{}`))
	l.do(request{Method: "GET", Path: "/apis/changes.example.com"})
	l.stored()

	// A definition of the same name has other objects.
	again := inStep(t, l.pair, box("changes.example.com"))
	again.do(again.object("POST", "v1", "a", `"spec":{"text":"new"}`))
	again.do(again.read("v1", "", ""))
	again.stored()
}

// TestNames compares definitions whose names conflict, and what becomes of them when the first
// goes.
func TestNames(t *testing.T) {
	t.Parallel()
	l := inStep(t, apart(t), box("names.example.com"))
	settle := func(name string) {
		for _, side := range l.sessions {
			side.backend.servers[0].quiet(t, name)
		}
		l.do(request{Method: "GET", Path: definitionsPath + "/" + name})
	}
	other := box("names.example.com")
	other["metadata"] = map[string]any{"name": "crates.names.example.com"}
	other.spec()["names"] = map[string]any{"plural": "crates", "kind": "Box", "shortNames": []any{"cr"}}
	l.do(other.create())
	settle(other.name())
	l.do(request{Method: "GET", Path: "/apis/names.example.com/v1/namespaces/n/crates"})
	l.do(request{Method: "GET", Path: "/apis/names.example.com/v1"})
	third := box("names.example.com")
	third["metadata"] = map[string]any{"name": "chests.names.example.com"}
	third.spec()["names"] = map[string]any{"plural": "chests", "kind": "Chest", "shortNames": []any{"boxes", "ch"}}
	l.do(third.create())
	settle(third.name())
	l.do(request{Method: "GET", Path: "/apis/names.example.com/v1/namespaces/n/chests"})
	l.do(request{Method: "DELETE", Path: definitionsPath + "/boxes.names.example.com"})
	l.gone()
	settle(other.name())
	settle(third.name())
	unapproved := box("names.k8s.io")
	l.do(unapproved.create())
	object(unapproved, "metadata")["annotations"] = map[string]any{"api-approved.kubernetes.io": "unapproved, experimental"}
	l.do(unapproved.create())
	settle(unapproved.name())
	l.do(request{Method: "PATCH", Path: definitionsPath + "/" + unapproved.name(), ContentType: mergePatch, Body: []byte(`{"metadata":{"annotations":{"api-approved.kubernetes.io":"bad"}}}`)})
	settle(unapproved.name())
}
