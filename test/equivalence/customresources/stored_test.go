// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// TestStored compares how the servers read objects in etcd that they would not have written. An
// object without metadata is not among them: Kubernetes' server panics when its watch cache decodes
// one, which ends the process.
func TestStored(t *testing.T) {
	t.Parallel()
	d := box("stored.example.com")
	d.spec()["versions"] = []any{boxVersion("v1", true), boxVersion("v2", false)}
	for _, v := range d.versions() {
		v["subresources"] = map[string]any{"status": map[string]any{}, "scale": map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}
		object(v, "schema", "openAPIV3Schema", "properties")["template"] = map[string]any{"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
		object(v, "schema", "openAPIV3Schema", "properties", "spec", "properties")["nothing"] = map[string]any{"type": "string", "default": "something"}
	}
	l := inStep(t, apart(t), d)

	meta := func(more string) string {
		return `"metadata":{"name":"a","namespace":"n","uid":"00000000-0000-4000-8000-000000000001","creationTimestamp":"2020-01-01T00:00:00Z"` + more + `}`
	}
	const kind = `"apiVersion":"stored.example.com/v1","kind":"Box",`
	for name, stored := range map[string]string{
		"plain":                       `{` + kind + meta(`,"generation":3`) + `,"spec":{"text":"x"}}`,
		"without generation":          `{` + kind + meta(``) + `,"spec":{}}`,
		"other version":               `{"apiVersion":"stored.example.com/v2","kind":"Box",` + meta(``) + `,"spec":{"only-in-v2":"x","only-in-v1":"y"}}`,
		"unknown version":             `{"apiVersion":"stored.example.com/v9","kind":"Box",` + meta(``) + `,"spec":{"other":"x"}}`,
		"other group":                 `{"apiVersion":"other.example.com/v1","kind":"Box",` + meta(``) + `,"spec":{"other":"x"}}`,
		"other kind":                  `{"apiVersion":"stored.example.com/v1","kind":"Crate",` + meta(``) + `,"spec":{"other":"x"}}`,
		"without kind":                `{"apiVersion":"stored.example.com/v1",` + meta(``) + `,"spec":{"other":"x"}}`,
		"without version":             `{"kind":"Box",` + meta(``) + `}`,
		"unknown fields":              `{` + kind + meta(`,"strange":true`) + `,"spec":{"other":"x"},"other":1}`,
		"nulls":                       `{` + kind + meta(``) + `,"spec":{"text":null,"list":null,"nothing":null,"replicas":null},"status":null}`,
		"null spec":                   `{` + kind + meta(``) + `,"spec":null}`,
		"wrong types":                 `{` + kind + meta(``) + `,"spec":{"text":5,"list":"x","replicas":"many"}}`,
		"wrong spec":                  `{` + kind + meta(``) + `,"spec":"x"}`,
		"malformed labels":            `{` + kind + meta(`,"labels":{"a":1,"b":"c"},"annotations":"x"`) + `,"spec":{}}`,
		"malformed finalizers":        `{` + kind + meta(`,"finalizers":["a",5],"ownerReferences":[{"apiVersion":1}],"generation":"x"`) + `,"spec":{}}`,
		"malformed managed fields":    `{` + kind + meta(`,"managedFields":[{"manager":"m","operation":"Update","apiVersion":"stored.example.com/v9","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:text":{}}}},{"manager":"x"}]`) + `,"spec":{"text":"x"}}`,
		"malformed embedded metadata": `{` + kind + meta(``) + `,"template":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":5},"unknown":1},"spec":{"x":1}}}`,
		"embedded without kind":       `{` + kind + meta(``) + `,"template":{"metadata":{"name":"x"}}}`,
		"metadata is no object":       `{` + kind + `"metadata":5,"spec":{}}`,
		"list":                        `{"apiVersion":"stored.example.com/v1","kind":"BoxList","metadata":{},"items":[]}`,
		"deleted":                     `{` + kind + meta(`,"deletionTimestamp":"2021-01-01T00:00:00Z","deletionGracePeriodSeconds":0,"finalizers":["example.com/keep"]`) + `,"spec":{}}`,
		"large numbers":               `{` + kind + meta(``) + `,"spec":{"replicas":9223372036854775807},"status":{"replicas":1e3}}`,
		"indented":                    "{\n" + kind + meta(``) + ",\n\"spec\":{\"text\":\"\\u003c<\"}}\n",
		"CBOR":                        string(cborOf(map[string]any{"apiVersion": "stored.example.com/v1", "kind": "Box", "metadata": map[string]any{"name": "a", "namespace": "n", "creationTimestamp": "2020-01-01T00:00:00Z"}, "spec": map[string]any{"text": "x", "replicas": int64(3)}})),
		"empty":                       "",
		"garbage":                     "\x00\x01garbage",
		"YAML":                        "apiVersion: stored.example.com/v1\nkind: Box\nmetadata: {name: a, namespace: n}\n",
		"array":                       `[]`,
		"two objects":                 `{` + kind + meta(``) + `}{}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := &comparison{}
			sessions := [2]*session{newSession(l.pair.sides[0]), newSession(l.pair.sides[1])}
			key := "/stored.example.com/boxes/n/a"
			body := func(version, fields string) []byte {
				return []byte(`{"apiVersion":"stored.example.com/` + version + `","kind":"Box","metadata":{"name":"a"},` + fields + `}`)
			}
			var requests []request
			for _, version := range []string{"v1", "v2"} {
				path := d.path(version, "n") + "/a"
				requests = append(requests,
					request{Method: "GET", Path: path},
					request{Method: "GET", Path: path, Accept: asJSON + tableAs},
					request{Method: "GET", Path: path + "/scale"},
					request{Method: "PATCH", Path: path + "?dryRun=All", ContentType: mergePatch, Body: []byte(`{"spec":{"text":"y"}}`)},
					request{Method: "PATCH", Path: path + "?dryRun=All&fieldManager=m&force=true", ContentType: applyYAML, Body: body(version, `"spec":{"text":"y"}`)},
					request{Method: "PUT", Path: path + "?dryRun=All", ContentType: asJSON, Body: body(version, `"spec":{"text":"y"}`)},
					request{Method: "PATCH", Path: path + "/status?dryRun=All", ContentType: mergePatch, Body: []byte(`{"status":{"text":"y"}}`)},
					request{Method: "PATCH", Path: path + "/scale?dryRun=All", ContentType: mergePatch, Body: []byte(`{"spec":{"replicas":2}}`)},
					request{Method: "DELETE", Path: path + "?dryRun=All"},
				)
			}
			v1 := d.path("v1", "n") + "/a"
			requests = append(requests,
				request{Method: "PATCH", Path: v1, ContentType: mergePatch, Body: []byte(`{"metadata":{"labels":{"touched":"yes"}}}`)},
				request{Method: "GET", Path: v1},
				request{Method: "PATCH", Path: v1 + "/status", ContentType: mergePatch, Body: []byte(`{"status":{"replicas":1}}`)},
				request{Method: "DELETE", Path: v1},
			)
			for _, s := range sessions {
				_, err := l.pair.store.Put(context.Background(), s.backend.prefix+key, stored)
				must(t, err)
			}
			for _, r := range requests {
				c.compare(r, sessions[0].do(t, r), sessions[1].do(t, r))
				left := [2]string{}
				for i, s := range sessions {
					left[i] = l.pair.stored(t, s, s.backend.prefix+key)
				}
				if left[0] != left[1] {
					t.Errorf("stored after\n%s\n(-upstream +celador):\n%s", r, differing(left[0], left[1]))
				}
			}
			for _, s := range sessions {
				_, err := l.pair.store.Delete(context.Background(), s.backend.prefix+key)
				must(t, err)
			}
			for _, text := range c.unexplained {
				t.Error(text)
			}
		})
	}
}

func cborOf(value any) []byte {
	encoded, err := direct.Marshal(value)
	if err != nil {
		panic(err)
	}
	return encoded
}
