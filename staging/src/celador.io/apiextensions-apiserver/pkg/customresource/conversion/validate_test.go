// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

func validate(d, old *conversion.CRDSpec) (errs, warnings []string) {
	fieldErrs, warnings := conversion.Validate(field.NewPath("spec", "conversion"), d, old)
	for _, err := range fieldErrs {
		errs = append(errs, err.Error())
	}
	return errs, warnings
}

// rules and rule are the field paths of the rules from v1 to v2, and of the first of them.
const (
	rules = "spec.conversion.converters[0].rules"
	rule  = rules + "[0]"
)

func TestValidateRules(t *testing.T) {
	const (
		text  = "text: {type: string, maxLength: 10}\n"
		items = "list: {type: array, maxItems: 10, items: {type: object, properties: {name: {type: string, maxLength: 10}}}}\n"
	)
	tests := []struct {
		name string
		// from and to are the fields of spec in v1 and v2.
		from, to string
		rules    string
		errs     []string
		warnings []string
	}{{
		name: "valid", from: text + items, to: text + items,
		rules: "[{field: spec.text, rule: self.spec.text}, {scope: 'spec.list[*]', field: name, rule: 'has(self.name) ? self.name : null'}, {field: \"metadata.annotations['a.b/c']\", rule: json.encode(self.spec)}]",
	}, {
		name: "unknown field", from: text, to: text, rules: "[{field: spec.txt, rule: self.spec.text}]",
		errs: []string{
			rule + `.field: Invalid value: "spec.txt": in version v2, spec has no field "txt": did you mean "text"?`,
		},
	}, {
		name: "unknown scope in the source", from: text, to: text + items, rules: "[{scope: 'spec.list[*]', field: name, rule: self.name}]",
		errs: []string{
			rule + `.scope: Invalid value: "spec.list[*]": in version v1, spec has no field "list": its fields are text`,
		},
	}, {
		name: "unknown scope in the target", from: text + items, to: text, rules: "[{scope: 'spec.list[*]', field: name, rule: self.name}]",
		errs: []string{
			rule + `.scope: Invalid value: "spec.list[*]": in version v2, spec has no field "list": its fields are text. The rule sets a field in the same place that it reads: to move values to another place, use a scope that both versions have`,
		},
	}, {
		name: "index", from: items, to: items, rules: "[{field: 'spec.list[0].name', rule: \"'x'\"}]",
		errs: []string{
			rule + `.field: Invalid value: "spec.list[0].name": character 11: a list item cannot be set by its index: set the whole list with the field "spec.list", or every item with the scope "spec.list[*]"`,
		},
	}, {
		name: "[*] in field", from: items, to: items, rules: "[{field: 'spec.list[*].name', rule: \"'x'\"}]",
		errs: []string{
			rule + `.field: Invalid value: "spec.list[*].name": character 11: [*] is allowed in scope only: write scope "spec.list[*]", and the path in the entry as field`,
		},
	}, {
		name: "[*] at an object", from: text, to: text, rules: "[{scope: 'spec[*]', field: text, rule: \"'x'\"}]",
		errs: []string{
			rule + `.scope: Invalid value: "spec[*]": in version v1, spec is an object with fields, and [*] is for the entries of lists and maps: write the name of a field, such as spec.text`,
		},
	}, {
		name: "[*] at a scalar", from: text, to: text, rules: "[{scope: 'spec.text[*]', rule: \"'x'\"}]",
		errs: []string{
			rule + `.scope: Invalid value: "spec.text[*]": in version v1, spec.text is a string and has no fields`,
		},
	}, {
		name: "list without [*]", from: items, to: items, rules: "[{scope: 'spec.list', field: name, rule: \"'x'\"}]",
		errs: []string{
			rule + `.field: Invalid value: "name": in version v2, spec.list is a list, which has no field "name": write spec.list[*] in scope to run the rule for every item`,
		},
	}, {
		name: "[*] at a list that becomes a map", from: items, to: "list: {type: object, additionalProperties: {type: object, properties: {name: {type: string}}}}",
		rules: "[{scope: 'spec.list[*]', field: name, rule: \"'x'\"}]",
		errs: []string{
			rule + `.scope: Invalid value: "spec.list[*]": spec.list is a list in version v1 and a map in version v2: set it as a whole, with field "spec.list"`,
		},
	}, {
		name: "apiVersion", from: text, to: text, rules: "[{field: apiVersion, rule: \"'example.com/v2'\"}]",
		errs: []string{
			rule + `.field: Invalid value: "apiVersion": a rule cannot set apiVersion: conversion sets it itself`,
		},
	}, {
		name: "metadata", from: text, to: text, rules: "[{field: metadata.name, rule: \"'x'\"}, {field: metadata, rule: 'Object.metadata{}'}, {scope: metadata.finalizers, rule: \"['x']\"}]",
		errs: []string{
			rule + `.field: Invalid value: "metadata.name": a rule cannot set metadata.name: of metadata, conversion may change only labels and annotations`,
			rules + `[1].field: Invalid value: "metadata": a rule cannot set metadata as a whole: set metadata.labels or metadata.annotations, or one of their keys, such as metadata.annotations['example.com/zone']`,
			rules + `[2].scope: Invalid value: "metadata.finalizers": a rule cannot set metadata.finalizers: of metadata, conversion may change only labels and annotations`,
		},
	}, {
		name: "annotation without quotes", from: text, to: text, rules: "[{field: metadata.annotations.example.com/zone, rule: \"'x'\"}]",
		errs: []string{
			rule + `.field: Invalid value: "metadata.annotations.example.com/zone": character 33: expected '.' or '[', found '/'; write names that contain other characters than letters, digits, '_', '-' and '$' in brackets and quotes, such as metadata.annotations['example.com/zone']`,
		},
	}, {
		name: "annotation with dots", from: text, to: text, rules: "[{field: metadata.annotations.example.com, rule: \"'x'\"}]",
		errs: []string{
			rule + `.field: Invalid value: "metadata.annotations.example.com": in version v2, metadata.annotations.example is a string and has no fields: write metadata.annotations['example.com']`,
		},
	}, {
		name: "source object with other types", from: "a: {type: object, properties: {x: {type: string, maxLength: 3}, y: {type: string, maxLength: 3}}}", to: "b: {type: object, properties: {x: {type: integer}, y: {type: string}}}",
		rules: "[{field: spec.b, rule: self.spec.a}]",
		errs: []string{
			rule + `.rule: Invalid value: "self.spec.a": the rule returns string for x, which is an integer: write int(...)`,
		},
	}, {
		name: "function that does not exist", from: text, to: text, rules: "[{field: spec.text, rule: 'toUpper(self.spec.text)'}]",
		errs: []string{
			rule + ".rule: Invalid value: \"toUpper(self.spec.text)\": compilation failed: ERROR: <input>:1:8: undeclared reference to 'toUpper' (in container '')\n | toUpper(self.spec.text)\n | .......^\nThere is no function toUpper",
		},
	}, {
		name: "text of JSON without decode", from: text, to: "o: {type: object, properties: {a: {type: string}}}", rules: "[{field: spec.o, rule: self.metadata.annotations.x}]",
		errs: []string{
			rule + `.rule: Invalid value: "self.metadata.annotations.x": the rule returns string, but the field is an object: construct the object with Object.spec.o{...}`,
		},
	}, {
		name: "bare field name", from: text, to: text, rules: "[{field: spec.text, rule: spec.text}]",
		errs: []string{
			rule + ".rule: Invalid value: \"spec.text\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'spec' (in container '')\n | spec.text\n | ^\nFields are read through self: write self.spec",
		},
	}, {
		name: "bare field name in a scope", from: text, to: text, rules: "[{scope: spec, field: text, rule: text}]",
		errs: []string{
			rule + ".rule: Invalid value: \"text\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'text' (in container '')\n | text\n | ^\nFields are read through self: write self.text",
		},
	}, {
		name: "bare field name outside the scope", from: text, to: text, rules: "[{scope: spec, field: text, rule: metadata.name}]",
		errs: []string{
			rule + ".rule: Invalid value: \"metadata.name\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'metadata' (in container '')\n | metadata.name\n | ^\nThe rule has the scope spec, where self has no field metadata. To read other parts of the object, write root.metadata",
		},
	}, {
		name: "field outside the scope", from: text, to: text, rules: "[{scope: spec, field: text, rule: self.metadata.name}]",
		errs: []string{
			rule + ".rule: Invalid value: \"self.metadata.name\": compilation failed: ERROR: <input>:1:5: undefined field 'metadata'\n | self.metadata.name\n | ....^\nself is the value at the scope spec, not the whole object, which is root",
		},
	}, {
		name: "object at a scalar scope", from: text, to: text, rules: "[{scope: spec.text, rule: self.metadata.name}]",
		errs: []string{
			rule + ".rule: Invalid value: \"self.metadata.name\": compilation failed: ERROR: <input>:1:5: type 'string' does not support field selection\n | self.metadata.name\n | ....^\nself is the value at the scope spec.text, not the whole object, which is root",
		},
	}, {
		name: "name with a dash", from: "x-prop: {type: string}", to: "x-prop: {type: string}", rules: "[{field: spec.x-prop, rule: self.spec.x-prop}]",
		errs: []string{
			rule + ".rule: Invalid value: \"self.spec.x-prop\": compilation failed: ERROR: <input>:1:10: undefined field 'x'\n | self.spec.x-prop\n | .........^\nERROR: <input>:1:13: undeclared reference to 'prop' (in container '')\n | self.spec.x-prop\n | ............^\nWrite x__dash__prop for the field \"x-prop\"",
		},
	}, {
		name: "oldSelf", from: text, to: text, rules: "[{field: spec.text, rule: oldSelf.spec.text}]",
		errs: []string{
			rule + ".rule: Invalid value: \"oldSelf.spec.text\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'oldSelf' (in container '')\n | oldSelf.spec.text\n | ^\nThere is no oldSelf: self is the object to convert, or the value at scope in it",
		},
	}, {
		name: "misspelt field", from: text, to: text, rules: "[{field: spec.text, rule: self.spec.txt}]",
		errs: []string{
			rule + ".rule: Invalid value: \"self.spec.txt\": compilation failed: ERROR: <input>:1:10: undefined field 'txt'\n | self.spec.txt\n | .........^\nDid you mean \"text\" instead of \"txt\"?",
		},
	}, {
		name: "hidden metadata", from: text, to: text, rules: "[{field: spec.text, rule: self.metadata.uid}]",
		errs: []string{
			rule + ".rule: Invalid value: \"self.metadata.uid\": compilation failed: ERROR: <input>:1:14: undefined field 'uid'\n | self.metadata.uid\n | .............^\nOf metadata, rules can read name, generateName, namespace, labels and annotations",
		},
	}, {
		name: "syntax", from: text, to: text, rules: "[{field: spec.text, rule: 'self.spec.text +'}]",
		errs: []string{
			rule + ".rule: Invalid value: \"self.spec.text +\": compilation failed: ERROR: <input>:1:17: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | self.spec.text +\n | ................^",
		},
	}, {
		name: "many errors", from: text, to: text, rules: "[{field: spec.text, rule: 'a + b + c + d + e'}]",
		errs: []string{
			rule + ".rule: Invalid value: \"a + b + c + d + e\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a + b + c + d + e\n | ^\nERROR: <input>:1:5: undeclared reference to 'b' (in container '')\n | a + b + c + d + e\n | ....^\nERROR: <input>:1:9: undeclared reference to 'c' (in container '')\n | a + b + c + d + e\n | ........^\n... and 2 more errors",
		},
	}, {
		name: "type", from: "size: {type: integer}", to: text, rules: "[{field: spec.text, rule: self.spec.size}]",
		errs: []string{
			rule + `.rule: Invalid value: "self.spec.size": the rule returns int, but the field is a string: write string(...)`,
		},
	}, {
		name: "type of an item", from: items, to: items, rules: "[{scope: 'spec.list[*]', rule: self.name}]",
		errs: []string{
			rule + `.rule: Invalid value: "self.name": the rule returns string, but the field is an object: construct the object with Object.spec.list{...}`,
		},
	}, {
		name: "type of a constructed field", from: "size: {type: integer}\no: {type: object, properties: {s: {type: string}}}", to: "o: {type: object, properties: {s: {type: string}}}",
		rules: "[{field: spec.o, rule: 'Object.spec.o{s: self.spec.size}'}]",
		errs: []string{
			rule + ".rule: Invalid value: \"Object.spec.o{s: self.spec.size}\": compilation failed: ERROR: <input>:1:27: the value is int for s, which is a string: write string(...)\n | Object.spec.o{s: self.spec.size}\n | ..........................^",
		},
	}, {
		name: "unknown constructor", from: text, to: text, rules: "[{field: spec.text, rule: 'Object.spec.other{a: 1}'}]",
		errs: []string{
			rule + ".rule: Invalid value: \"Object.spec.other{a: 1}\": compilation failed: ERROR: <input>:1:18: undeclared reference to 'Object.spec.other' (in container '')\n | Object.spec.other{a: 1}\n | .................^\nVersion v2 has no object at spec.other. Constructors have the paths of objects of that version: Object.spec.a{...} constructs spec.a, or an item or value if spec.a is a list or map",
		},
	}, {
		name: "unknown field of a constructor", from: text, to: text, rules: "[{field: spec, rule: 'Object.spec{txt: self.spec.text}'}]",
		errs: []string{
			rule + ".rule: Invalid value: \"Object.spec{txt: self.spec.text}\": compilation failed: ERROR: <input>:1:16: undefined field 'txt'\n | Object.spec{txt: self.spec.text}\n | ...............^\nDid you mean \"text\" instead of \"txt\"?",
		},
	}, {
		name: "misspelt field of a constructor", from: text, to: "longTitle: {type: string}", rules: "[{field: spec, rule: 'Object.spec{longTitel: self.spec.text}'}]",
		errs: []string{
			rule + ".rule: Invalid value: \"Object.spec{longTitel: self.spec.text}\": compilation failed: ERROR: <input>:1:22: undefined field 'longTitel'\n | Object.spec{longTitel: self.spec.text}\n | .....................^\nDid you mean \"longTitle\" instead of \"longTitel\"?",
		},
	}, {
		name: "constructor of another path", from: "a: {type: object, properties: {x: {type: string}}}\nb: {type: object, properties: {x: {type: integer}}}", to: "a: {type: object, properties: {x: {type: string}}}\nb: {type: object, properties: {x: {type: integer}}}",
		rules: "[{field: spec.b, rule: 'Object.spec.a{x: \"y\"}'}]",
		errs: []string{
			rule + `.rule: Invalid value: "Object.spec.a{x: \"y\"}": the rule returns string for x, which is an integer: write int(...)`,
		},
	}, {
		name: "null item", from: items, to: items, rules: "[{scope: 'spec.list[*]', rule: 'has(self.name) ? Object.spec.list{name: self.name} : null'}]",
		errs: []string{
			rule + `.rule: Invalid value: "has(self.name) ? Object.spec.list{name: self.name} : null": the rule sets items of the list spec.list and must not return null or an optional: an item cannot be left unset. Set the whole list instead, with field "spec.list" and filter()`,
		},
	}, {
		name: "empty rule", from: text, to: text, rules: "[{field: spec.text, rule: ' '}]",
		errs: []string{
			rule + ".rule: Required value: must be an expression; null leaves the field unset",
		},
	}, {
		name: "long rule", from: text, to: text, rules: "[{field: spec.text, rule: \"'" + repeat("x", 10240) + "'\"}]",
		errs: []string{
			rule + ".rule: Too long: may not be more than 10240 bytes",
		},
	}, {
		name: "long path", from: text, to: text, rules: "[{field: spec" + repeat(".a", 600) + ", rule: \"'x'\"}]",
		errs: []string{
			rule + ".field: Too long: may not be more than 1024 bytes",
		},
	}, {
		name: "cost", from: "list: {type: array, items: {type: string}}", to: text,
		rules: "[{field: spec.text, rule: \"self.spec.list.all(a, self.spec.list.all(b, self.spec.list.all(c, a != b))) ? 'x' : 'y'\"}]",
		errs: []string{
			rule + ".rule: Forbidden: estimated rule cost exceeds budget by factor of 56.4x for an object of 64 KiB whose lists have 256 items (try looping over fewer lists for each item of another one, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared): the rule reads values without limits; in version v1, set maxItems of spec.list, maxLength of spec.list[*]",
		},
	}, {
		// However long the list is, it has no more text than the object.
		name: "cheap rule for a list without limits", from: "list: {type: array, items: {type: string}}", to: "list: {type: array, items: {type: string}}",
		rules: "[{scope: 'spec.list[*]', rule: self.upperAscii()}]",
	}, {
		// The product of the estimated numbers of items is far over the limit, but a request cannot
		// have so many.
		name:  "cheap rule for nested lists without limits",
		from:  "a: {type: array, items: {type: object, properties: {b: {type: array, items: {type: object, properties: {c: {type: boolean}}}}}}}",
		to:    "a: {type: array, items: {type: object, properties: {b: {type: array, items: {type: object, properties: {c: {type: boolean}, d: {type: string}}}}}}}",
		rules: "[{scope: 'spec.a[*].b[*]', field: d, rule: \"self.c ? '=~' : '='\"}]",
	}, {
		name: "cost of all rules", from: text + "list: {type: array, maxItems: 1000, items: {type: string, maxLength: 1}}", to: text,
		rules: "[" + repeat("{field: spec.text, rule: \"self.spec.list.all(a, self.spec.list.exists(b, a == b)) ? 'x' : 'y'\"}, ", 20) + "]",
		errs: []string{
			rules + ": Forbidden: estimated cost of all rules of the converter exceeds budget by factor of 1.24x for an object of 64 KiB whose lists have 256 items (try looping over fewer lists for each item of another one, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared). The most expensive expressions are " + strings.Join([]string{rules + "[0].rule", rules + "[1].rule", rules + "[2].rule", rules + "[3].rule", rules + "[4].rule"}, ", "),
		},
	}, {
		name: "retyped integer", from: "size: {type: integer}", to: "size: {type: string}", rules: "[]",
		errs: []string{
			rules + `: Required value: spec.size is an integer in version v1 and a string in version v2, and no rule sets it. Add a rule that converts the value, such as {field: "spec.size", rule: "self.?spec.?size.optMap(v, string(v))"}; the rule null leaves the field unset`,
		},
	}, {
		name: "retyped item", from: "list: {type: array, items: {type: object, properties: {size: {type: string}}}}", to: "list: {type: array, items: {type: object, properties: {size: {type: integer}}}}", rules: "[]",
		errs: []string{
			rules + `: Required value: spec.list[*].size is a string in version v1 and an integer in version v2, and no rule sets it. Add a rule that converts the value, such as {scope: "spec.list[*]", field: "size", rule: "self.?size.optMap(v, int(v))"}; the rule null leaves the field unset`,
		},
	}, {
		name: "retyped items", from: "list: {type: array, items: {type: string}}", to: "list: {type: array, items: {type: integer}}", rules: "[]",
		errs: []string{
			rules + `: Required value: spec.list[*] is a string in version v1 and an integer in version v2, and no rule sets it. Add a rule that converts the value, such as {scope: "spec.list[*]", rule: "int(self)"}`,
		},
	}, {
		name: "a scalar becomes a list", from: "a-b: {type: string}", to: "a-b: {type: array, items: {type: string}}", rules: "[]",
		errs: []string{
			rules + `: Required value: spec.a-b is a string in version v1 and a list of strings in version v2, and no rule sets it. Add a rule that converts the value, such as {field: "spec.a-b", rule: "self.?spec.?a__dash__b.optMap(v, [v])"}; the rule null leaves the field unset`,
		},
	}, {
		name: "a list becomes a map", from: items, to: "list: {type: object, additionalProperties: {type: string}}", rules: "[]",
		errs: []string{
			rules + ": Required value: spec.list is a list of objects in version v1 and a map of strings in version v2, and no rule sets it. Add a rule that converts the value; the rule null leaves the field unset",
		},
	}, {
		name: "int or string becomes an integer", from: "port: {x-kubernetes-int-or-string: true}", to: "port: {type: integer}", rules: "[]",
		errs: []string{
			rules + `: Required value: spec.port is an integer or a string in version v1 and an integer in version v2, and no rule sets it. Add a rule that converts the value, such as {field: "spec.port", rule: "self.?spec.?port.optMap(v, int(v))"}; the rule null leaves the field unset`,
		},
	}, {
		name: "number becomes an integer", from: "port: {type: number}", to: "port: {type: integer}", rules: "[]",
		errs: []string{
			rules + `: Required value: spec.port is a number in version v1 and an integer in version v2, and no rule sets it. Add a rule that converts the value, such as {field: "spec.port", rule: "self.?spec.?port.optMap(v, int(v))"}; the rule null leaves the field unset`,
		},
	}, {
		name: "retyped fields that rules set", from: "a: {type: integer}\nb: {type: string}", to: "a: {type: string}\nb: {type: object, properties: {name: {type: string}}}",
		rules: "[{field: spec.a, rule: 'self.?spec.?a.optMap(v, string(v))'}, {field: spec.b.name, rule: self.spec.b}]",
	}, {
		name: "retyped field beside those of a constructed object", from: text + "size: {type: string}", to: text + "size: {type: integer}", rules: "[{field: spec, rule: 'Object.spec{text: self.spec.text}'}]",
		errs: []string{
			rules + `: Required value: spec.size is a string in version v1 and an integer in version v2, and no rule sets it. Add a rule that converts the value, such as {field: "spec.size", rule: "self.?spec.?size.optMap(v, int(v))"}; the rule null leaves the field unset`,
		},
	}, {
		name: "retyped field beside those of a nested constructed object", from: text + "size: {type: string}", to: text + "size: {type: integer}",
		rules: "[{rule: 'has(self.spec.text) ? Object{spec: Object.spec{text: self.spec.text}} : null'}]",
		errs: []string{
			rules + `: Required value: spec.size is a string in version v1 and an integer in version v2, and no rule sets it. Add a rule that converts the value, such as {field: "spec.size", rule: "self.?spec.?size.optMap(v, int(v))"}; the rule null leaves the field unset`,
		},
	}, {
		name: "retyped field in a constructed object", from: "size: {type: string, maxLength: 10}", to: "size: {type: integer}",
		rules: "[{rule: 'Object{spec: Object.spec{?size: self.?spec.?size.optMap(s, int(s))}}'}]",
	}, {
		name: "losses", from: text + items + "kept: {type: string}\nread: {type: object, properties: {a: {type: string}, b: {type: string}}}\nmap: {type: object, additionalProperties: {type: object, properties: {x: {type: string}}}}",
		to:    "kept: {type: string}\nlist: {type: array, items: {type: object}}\nmap: {type: object, additionalProperties: {type: object}}",
		rules: "[{field: spec.kept, rule: self.spec.read.a}]",
		warnings: []string{
			rules + `: converting an object from v1 to v2 loses spec.list[*].name, spec.map[*].x, spec.read.b, spec.text: v2 cannot hold them, and no rule reads them. If they matter, add rules that set other fields from them, or keep them in an annotation, such as {field: "metadata.annotations['example.com/v1']", rule: "json.encode(...)"}`,
		},
	}, {
		name: "losses that rules read", from: text + items, to: "list: {type: array, items: {type: object}}",
		rules: "[{field: \"metadata.annotations.a\", rule: \"json.encode({'t': dyn(self.?spec.?text), 'n': dyn(self.spec.list.map(e, e.name))})\"}]",
	}, {
		name: "loss of unknown fields", from: "any: {type: object, x-kubernetes-preserve-unknown-fields: true}", to: "any: {type: object}", rules: "[]",
		warnings: []string{
			rules + `: converting an object from v1 to v2 loses unknown fields of spec.any: v2 cannot hold them, and no rule reads them. If they matter, add rules that set other fields from them, or keep them in an annotation, such as {field: "metadata.annotations['example.com/v1']", rule: "json.encode(...)"}`,
		},
	}, {
		name: "overwritten rule", from: text, to: text, rules: "[{field: spec.text, rule: \"'x'\"}, {scope: spec, field: text, rule: \"'y'\"}]",
		warnings: []string{
			rule + " has no effect: spec.conversion.converters[0].rules[1] sets the same field, or one above it, afterwards",
		},
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := widgets(t, test.from, test.to, test.rules)
			// Only the rules from v1 to v2 are tested.
			d.Converters[1].Rules = []v1.ConversionRule{{Field: "spec", Rule: "self.?metadata.?name.optMap(x, json.decode('{}'))"}, {Field: "metadata.annotations.all", Rule: "json.encode(self)"}}
			errs, warnings := validate(d, nil)
			// TestUnguarded compares these warnings.
			warnings = slices.DeleteFunc(warnings, func(warning string) bool {
				return strings.Contains(warning, "objects in v1 that lack what a rule reads")
			})
			if len(warnings) == 0 {
				warnings = nil
			}
			if diff := cmp.Diff(test.errs, errs); diff != "" {
				t.Errorf("errors: %s", diff)
			}
			if diff := cmp.Diff(test.warnings, warnings); diff != "" {
				t.Errorf("warnings: %s", diff)
			}
		})
	}
}
