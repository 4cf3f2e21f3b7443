// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"
)

// Schemas of the tests.
const (
	// services is the example of the proposal.
	services = `
type: object
properties:
  spec:
    type: object
    x-kubernetes-default:
    - rule: "has(self.type) && self.type == 'LoadBalancer' ? 'Cluster' : null"
      field: externalTrafficPolicy
    properties:
      type: {type: string}
      externalTrafficPolicy: {type: string}
`
	// chains has rules that read what other rules set.
	chains = `
type: object
x-kubernetes-default:
- {field: spec.host, rule: "self.metadata.name + '.example.com'"}
properties:
  spec:
    type: object
    x-kubernetes-default:
    - {field: url, rule: "'https://' + self.host + ':' + string(self.port)"}
    - {field: early, rule: "has(self.late) ? 'late first' : 'early first'"}
    - {field: late, rule: "self.early"}
    - {field: url, rule: "'never: an earlier rule sets the field'"}
    - {field: skipped, rule: "has(self.host) ? null : 'no host'"}
    - {field: skipped, rule: "'a second rule of the field'"}
    properties:
      host: {type: string}
      port: {type: integer, default: 443}
      url: {type: string}
      early: {type: string}
      late: {type: string}
      skipped: {type: string}
`
	// owners has rules in the schemas of the fields that they set.
	owners = `
type: object
properties:
  spec:
    type: object
    properties:
      b:
        type: string
        x-kubernetes-default: [{rule: "has(self.a) ? self.a + 'b' : 'no a'"}]
      a:
        type: string
        x-kubernetes-default: [{rule: "has(self.b) ? 'after b' : 'a'"}]
      limits:
        type: object
        x-kubernetes-default: [{rule: "Object.spec.limits{cpu: 1}"}, {field: memory, rule: "self.cpu * 2"}]
        properties:
          cpu: {type: integer}
          memory: {type: integer}
          disk: {type: integer, default: 7}
`
	// nested has rules in lists and maps.
	nested = `
type: object
properties:
  spec:
    type: object
    properties:
      ports:
        type: array
        maxItems: 10
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          required: [name]
          x-kubernetes-default:
          - {field: target, rule: "self.number"}
          - {field: labels.app, rule: "self.name"}
          properties:
            name: {type: string}
            number: {type: integer}
            target: {type: integer}
            labels:
              type: object
              additionalProperties: {type: string}
      zones:
        type: object
        maxProperties: 10
        additionalProperties:
          type: object
          nullable: true
          x-kubernetes-default: [{field: size, rule: "self.min + 1"}]
          properties:
            min: {type: integer, default: 1}
            size: {type: integer}
      grid:
        type: array
        maxItems: 3
        items:
          type: array
          maxItems: 3
          items:
            type: object
            x-kubernetes-default: [{field: copy, rule: "self.x"}]
            properties:
              x: {type: integer}
              copy: {type: integer}
`
	// unset has fields that may be null.
	unset = `
type: object
x-kubernetes-default:
- {field: spec.plain, rule: "'default'"}
- {field: spec.nullable, rule: "'default'"}
- {field: spec.inner.field, rule: "'default'"}
- {field: spec.optional, rule: "optional.none()"}
- {field: spec.conditional, rule: "has(self.spec.plain) ? optional.of('plain') : optional.none()"}
- {field: "spec.labels['example.com/zone']", rule: "self.kind"}
properties:
  spec:
    type: object
    properties:
      plain: {type: string}
      nullable: {type: string, nullable: true}
      optional: {type: string}
      conditional: {type: string}
      inner:
        type: object
        properties:
          field: {type: string}
      labels:
        type: object
        additionalProperties: {type: string}
`
	// creating has a rule that sets an object in which there are static defaults and rules.
	creating = `
type: object
properties:
  spec:
    type: object
    x-kubernetes-default:
    - {field: storage, rule: "Object.spec.storage{size: 5}"}
    - {field: copy, rule: "self.storage.class"}
    properties:
      copy: {type: string}
      storage:
        type: object
        x-kubernetes-default: [{field: total, rule: "self.size + self.reserve"}]
        properties:
          size: {type: integer}
          reserve: {type: integer, default: 2}
          class: {type: string, default: fast}
          total: {type: integer}
`
	// language has rules with objects of equal structure in several places, unset parents and
	// functions of rules.
	language = `
type: object
x-kubernetes-default:
- {field: spec.limits, rule: "has(self.spec.small.cpu.cores) ? self.spec.small : Object.spec.large{cpu: Object.spec.small.cpu{cores: 8}}"}
- {field: spec.labels, rule: "self.spec.?base.orValue({}).merge({'name': self.metadata.name}).remove('tmp')"}
- {field: spec.timeout, rule: "has(self.spec.seconds) ? duration(string(self.spec.seconds) + 's').toText() : null"}
- {field: spec.replicas, rule: "math.greatest(self.spec.?min.orValue(1), 3)"}
properties:
  spec:
    type: object
    properties:
      small: &limits {type: object, properties: {cpu: {type: object, properties: {cores: {type: integer}}}}}
      large: *limits
      limits: *limits
      base: {type: object, maxProperties: 10, additionalProperties: {type: string, maxLength: 40}}
      labels: {type: object, additionalProperties: {type: string}}
      seconds: {type: integer}
      timeout: {type: string}
      min: {type: integer}
      replicas: {type: integer}
`
	// open preserves unknown fields, over which a rule iterates.
	open = `
type: object
properties:
  spec:
    type: object
    maxProperties: 10
    x-kubernetes-preserve-unknown-fields: true
    x-kubernetes-default:
    - {field: fields, rule: "dyn(self).map(k, k).size()"}
    - {field: unknown, rule: "dyn(self).filter(k, k == null).size()"}
    properties:
      fields: {type: integer}
      unknown: {type: integer}
`
	// failing has rules that return errors for some objects.
	failing = `
type: object
properties:
  spec:
    type: object
    x-kubernetes-default:
    - {field: first, rule: "self.items[0].name"}
    - {field: second, rule: "self.input + '!'"}
    properties:
      input: {type: string}
      first: {type: string}
      second: {type: string}
      items:
        type: array
        maxItems: 5
        items:
          type: object
          x-kubernetes-default: [{field: name, rule: "self.alias"}]
          properties:
            name: {type: string}
            alias: {type: string}
  status:
    type: object
    properties:
      ready: {type: boolean}
`
)

func TestDefault(t *testing.T) {
	tests := []struct{ name, schema, object, want string }{
		{"the condition holds", services, `{spec: {type: LoadBalancer}}`, `{spec: {type: LoadBalancer, externalTrafficPolicy: Cluster}}`},
		{"the condition does not hold", services, `{spec: {type: NodePort}}`, `{spec: {type: NodePort}}`},
		{"the field is set", services, `{spec: {type: LoadBalancer, externalTrafficPolicy: Local}}`, `{spec: {type: LoadBalancer, externalTrafficPolicy: Local}}`},
		{"the parent is missing", services, `{}`, `{}`},
		{"the parent has the wrong type", services, `{spec: [1]}`, `{spec: [1]}`},

		{"rules see earlier results and static defaults", chains, `{metadata: {name: a}, spec: {}}`,
			`{metadata: {name: a}, spec: {host: a.example.com, port: 443, url: "https://a.example.com:443", early: early first, late: early first, skipped: a second rule of the field}}`},
		{"rules run once", chains, `{metadata: {name: a}, spec: {late: x, skipped: x}}`,
			`{metadata: {name: a}, spec: {host: a.example.com, port: 443, url: "https://a.example.com:443", early: late first, late: x, skipped: x}}`},

		{"rules of properties run by name", owners, `{spec: {}}`, `{spec: {a: a, b: ab, limits: {cpu: 1, memory: 2, disk: 7}}}`},
		{"rules of properties see the object around them", owners, `{spec: {b: x, limits: {cpu: 5}}}`, `{spec: {a: after b, b: x, limits: {cpu: 5, memory: 10, disk: 7}}}`},
		{"rules of properties without the object around them", owners, `{}`, `{}`},

		{"lists", nested, `{spec: {ports: [{name: a, number: 1}, {name: b, number: 2, target: 9, labels: {}}, {name: c, number: 3, labels: {app: x}}]}}`,
			`{spec: {ports: [{name: a, number: 1, target: 1}, {name: b, number: 2, target: 9, labels: {app: b}}, {name: c, number: 3, target: 3, labels: {app: x}}]}}`},
		{"lists in lists", nested, `{spec: {grid: [[{x: 1}, {x: 2, copy: 3}], [], [{x: 4}]]}}`, `{spec: {grid: [[{x: 1, copy: 1}, {x: 2, copy: 3}], [], [{x: 4, copy: 4}]]}}`},
		{"maps", nested, `{spec: {zones: {a: {}, b: {min: 5}, c: {size: 3}, d: null}}}`,
			`{spec: {zones: {a: {min: 1, size: 2}, b: {min: 5, size: 6}, c: {min: 1, size: 3}, d: null}}}`},
		{"empty lists and maps", nested, `{spec: {ports: [], zones: {}}}`, `{spec: {ports: [], zones: {}}}`},

		{"nulls", unset, `{kind: Widget, spec: {plain: null, nullable: null, inner: {field: null}, labels: {}}}`,
			`{kind: Widget, spec: {plain: default, nullable: null, inner: {field: default}, conditional: plain, labels: {example.com/zone: Widget}}}`},
		{"missing fields", unset, `{spec: {}}`, `{spec: {plain: default, nullable: default, conditional: plain}}`},

		{"created objects get static defaults and run their rules", creating, `{spec: {}}`,
			`{spec: {storage: {size: 5, reserve: 2, class: fast, total: 7}, copy: fast}}`},
		{"rules of existing objects", creating, `{spec: {storage: {size: 1}}}`, `{spec: {storage: {size: 1, reserve: 2, class: fast, total: 3}, copy: fast}}`},

		{"objects of equal structure and functions", language, `{metadata: {name: app}, spec: {small: {cpu: {cores: 2}}, base: {a: b, tmp: c}, seconds: 90, min: 5}}`,
			`{metadata: {name: app}, spec: {small: {cpu: {cores: 2}}, limits: {cpu: {cores: 2}}, base: {a: b, tmp: c}, labels: {a: b, name: app}, seconds: 90, timeout: 1m30s, min: 5, replicas: 5}}`},
		{"unset parents", language, `{metadata: {name: app}, spec: {}}`, `{metadata: {name: app}, spec: {limits: {cpu: {cores: 8}}, labels: {name: app}, replicas: 3}}`},

		{"unknown fields", open, `{spec: {a: 1, b: {c: 2}}}`, `{spec: {a: 1, b: {c: 2}, fields: 2, unknown: 0}}`},

		{"errors leave fields unset", failing, `{spec: {items: [{alias: a}, {}]}}`, `{spec: {items: [{alias: a, name: a}, {}]}}`},
		{"errors of some rules", failing, `{spec: {input: a, items: [{name: b}]}}`, `{spec: {input: a, first: b, second: "a!", items: [{name: b}]}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			structural, rules := compile(t, test.schema)
			got := object(t, test.object)
			structuraldefaulting.Default(got, structural)
			rules.Default(got)
			if diff := cmp.Diff(object(t, test.want), got); diff != "" {
				t.Errorf("the object differs (-want +got):\n%s", diff)
			}
			again := runtime.DeepCopyJSON(got)
			rules.Validate(t.Context(), got, nil)
			if diff := cmp.Diff(again, got); diff != "" {
				t.Errorf("Validate has changed the object (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateObject(t *testing.T) {
	const (
		first  = `spec.first: Invalid value: null: no default: the rule "self.items[0].name" of x-kubernetes-default fails: `
		second = `spec.second: Invalid value: null: no default: the rule "self.input + '!'" of x-kubernetes-default fails: `
		item   = `spec.items[1].name: Invalid value: null: no default: the rule "self.alias" of x-kubernetes-default fails: no such key: alias`
	)
	tests := []struct {
		name        string
		old, object string
		want        []string
	}{
		{"no errors", "", `{spec: {first: a, second: b}}`, nil},
		{"create", "", `{spec: {}}`, []string{first + "no such key: items", second + "no such key: input"}},
		{"create an item", "", `{spec: {first: a, second: b, items: [{alias: a}, {}]}}`, []string{item}},
		{"unchanged update", `{spec: {}}`, `{spec: {}}`, nil},
		{"metadata", `{metadata: {name: a}, spec: {}}`, `{metadata: {name: a, labels: {a: b}}, spec: {}}`, nil},
		{"status", `{spec: {}}`, `{spec: {}, status: {ready: true}}`, nil},
		{"update of other fields", `{spec: {second: b}}`, `{spec: {second: c}}`, nil},
		{"update of what the rule reads", `{spec: {second: b}}`, `{spec: {second: b, items: []}}`, []string{first + "index out of bounds"}},
		{"unset the field", `{spec: {first: a, second: b}}`, `{spec: {first: a}}`, []string{second + "no such key: input"}},
		{"item of an unchanged list", `{spec: {first: a, second: b, items: [{alias: a}, {}]}}`, `{spec: {first: b, second: b, items: [{alias: a}, {}]}}`, nil},
		{"unchanged item of a changed list", `{spec: {first: a, second: b, items: [{alias: b}, {}]}}`, `{spec: {first: a, second: b, items: [{alias: a}, {}]}}`, []string{item}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, rules := compile(t, failing)
			var got []string
			for _, err := range rules.Validate(t.Context(), object(t, test.object), object(t, test.old)) {
				got = append(got, err.Error())
			}
			if len(got) != len(test.want) {
				t.Fatalf("got errors:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			for i := range got {
				if !strings.HasPrefix(got[i], test.want[i]) {
					t.Errorf("got error  %s\nwant prefix %s", got[i], test.want[i])
				}
			}
		})
	}
}
