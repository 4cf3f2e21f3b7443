// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
)

// Client-side 'kubectl apply' of an unchanged manifest sends a patch, and says "configured", if
// list items have defaults: a JSON merge patch has the whole list. Static defaults and default
// expressions do not differ in this, and the patch changes nothing.
func TestApplyTwice(t *testing.T) {
	const items = "type: object\nproperties: {spec: {type: object, properties: {ports: {type: array, maxItems: 3, items: "
	for name, test := range map[string]struct{ schema, want string }{
		"static default":     {items + "{type: object, properties: {port: {type: integer}, t: {type: integer, default: 1}}}}}}}", `{"spec":{"ports":[{"port":1}]}}`},
		"default expression": {items + "{type: object, properties: {port: {type: integer}, t: {type: integer}}, x-kubernetes-default: [{field: t, rule: self.port}]}}}}}", `{"spec":{"ports":[{"port":1}]}}`},
		"no default":         {items + "{type: object, properties: {port: {type: integer}, t: {type: integer}}}}}}}", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			structural, rules := compile(t, test.schema)
			withDefaults := func(o map[string]any) map[string]any {
				structuraldefaulting.Default(o, structural)
				rules.Default(o)
				return o
			}
			encode := func(o map[string]any) []byte {
				text, err := json.Marshal(o)
				if err != nil {
					t.Fatal(err)
				}
				return text
			}
			manifest := object(t, "{spec: {ports: [{port: 1}]}}")
			live := withDefaults(object(t, "{spec: {ports: [{port: 1}]}}"))
			patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(encode(manifest), encode(manifest), encode(live))
			if err != nil {
				t.Fatal(err)
			}
			if string(patch) != test.want {
				t.Errorf("the patch is %s, want %s", patch, test.want)
			}
			// The patch replaces the list.
			if diff := cmp.Diff(live, withDefaults(manifest)); diff != "" {
				t.Errorf("the patched object differs (-live +patched):\n%s", diff)
			}
		})
	}
}
