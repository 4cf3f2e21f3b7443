// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

// identities are examples of mutations that change apiVersion, kind, name, namespace or managed
// fields. Celador rejects these mutations, which is a wanted difference.
func identities() map[string]example {
	meta := func(fields string) spec { return applying("Object{metadata: Object.metadata{" + fields + "}}") }
	return map[string]example{
		"name":                       {spec: meta(`name: "other"`), fails: `may not change metadata.name from "web" to "other"`},
		"name, ignored":              {spec: with(meta(`name: "other"`), and(applying(one)), ignoring), want: []string{`"name":"web"`, hasOne}},
		"same name":                  {spec: meta(`name: "web"`)},
		"name where there is none":   {on: "create nameless", spec: meta(`name: "given"`), want: []string{`"name":"given"`}},
		"name removed":               {spec: patching(`[JSONPatch{op: "remove", path: "/metadata/name"}]`), fails: `may not change metadata.name from "web" to ""`},
		"namespace":                  {spec: meta(`namespace: "red"`), fails: `may not change metadata.namespace from "blue" to "red"`},
		"same namespace":             {spec: meta(`namespace: "blue"`)},
		"namespace of a node":        {on: "create node", spec: meta(`namespace: "red"`), fails: `may not change metadata.namespace from "" to "red"`},
		"kind":                       {spec: patching(`[JSONPatch{op: "replace", path: "/kind", value: "Pod"}]`), fails: `may not change apiVersion and kind from apps/v1, Kind=Deployment to apps/v1, Kind=Pod`},
		"kind of a widget":           {on: "create widget", spec: patching(`[JSONPatch{op: "replace", path: "/kind", value: "Gadget"}]`), fails: `may not change apiVersion and kind from example.com/v1, Kind=Widget to example.com/v1, Kind=Gadget`},
		"version of a widget":        {on: "create widget", spec: patching(`[JSONPatch{op: "replace", path: "/apiVersion", value: "example.com/v2"}]`), fails: `may not change apiVersion and kind from example.com/v1, Kind=Widget to example.com/v2, Kind=Widget`},
		"no kind":                    {on: "create widget", spec: patching(`[JSONPatch{op: "remove", path: "/kind"}]`), fails: `may not change apiVersion and kind from example.com/v1, Kind=Widget to example.com/v1, Kind=`},
		"widget":                     {on: "create widget", spec: meta(`name: "other"`), fails: `may not change metadata.name from "w" to "other"`},
		"managed fields":             {spec: patching(`[JSONPatch{op: "add", path: "/metadata/managedFields", value: [{"manager": "me", "operation": "Update"}]}]`), fails: `may not change metadata.managedFields`},
		"managed fields, applied":    {spec: meta(`managedFields: [Object.metadata.managedFields{manager: "me"}]`), fails: `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .metadata.managedFields`},
		"managed fields of a widget": {on: "create widget", spec: patching(`[JSONPatch{op: "add", path: "/metadata/managedFields", value: [{"manager": "me", "operation": "Update"}]}]`), fails: `may not change metadata.managedFields`},
		"no managed fields":          {on: "create widget", spec: patching(`[JSONPatch{op: "add", path: "/metadata/managedFields", value: []}]`), want: []string{`"managedFields":[]`}},
		"after it is refused":        {spec: with(meta(`name: "other"`), and(applying(one))), want: []string{`"name":"web"`, hasOne}, fails: `may not change metadata.name from "web" to "other"`},
	}
}
