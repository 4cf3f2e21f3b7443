// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"slices"
	"strings"

	"celador.io/celador/test/equivalence/harness"
)

// field is a field that generated apply configurations may set. It has either values, which are
// expressions, or fields.
type field struct {
	name   string
	values []string
	fields []field
	// keys is the number of fields, the first ones, that identify an element if the field is a
	// list.
	keys int
}

func scalar(name string, values ...string) field { return field{name: name, values: values} }

func object(name string, fields ...field) field { return field{name: name, fields: fields} }

func list(name string, keys int, fields ...field) field {
	return field{name: name, fields: fields, keys: keys}
}

func number(name string) field {
	return scalar(name, "5", "0", "7", "5.0", "9007199254740993", "object.metadata.name == 'web' ? 3 : 4", "null", "'5'", "-1")
}

func boolean(name string) field {
	return scalar(name, "true", "false", "object.kind != 'Pod'", "'true'")
}

func text(name string, values ...string) field {
	return scalar(name, append(values, "''", "object.metadata.name", "1")...)
}

var quantities = []string{`{"cpu": "500m"}`, `{"cpu": "0.5", "memory": "1024Mi"}`, `{"cpu": 1}`, `{"cpu": ""}`, `{}`, `{"cpu": "much"}`}

var container = []field{
	text("name", "'main'", "'side'", "'new'", "'newer'"),
	text("image", "'i'", "'i:1'"), text("imagePullPolicy", "'Always'"), boolean("tty"), boolean("stdin"),
	list("env", 1, text("name", "'REGION'", "'STAGE'", "'A'"), text("value", "'x'", "'y'"),
		object("valueFrom", object("configMapKeyRef", text("key", "'k'"), text("name", "'n'"), boolean("optional")))),
	list("ports", 2, scalar("containerPort", "80", "53", "8080"), text("protocol", "'TCP'", "'UDP'"), text("name", "'web'", "'p'"), number("hostPort")),
	object("resources", scalar("limits", quantities...), scalar("requests", quantities...)),
	list("volumeMounts", 1, text("mountPath", "'/scratch'", "'/v'"), text("name", "'scratch'", "'v'"), boolean("readOnly")),
	object("livenessProbe", object("httpGet", text("path", "'/'"), scalar("port", "80", "'web'", "0"), list("httpHeaders", 0, text("name", "'h'"))), number("periodSeconds"), object("exec")),
	object("securityContext", number("runAsUser"), boolean("privileged"), object("capabilities", scalar("add", "['A']", "[]"))),
	scalar("args", "['a']", "[]"), text("terminationMessagePath", "'/t'"),
	object("lifecycle", object("preStop", object("sleep", number("seconds")))),
}

var podSpec = []field{
	list("containers", 1, container...), list("containers", 1, container...), list("containers", 1, container...), list("initContainers", 1, container...),
	list("volumes", 1, text("name", "'scratch'", "'v'", "'w'"), object("emptyDir", scalar("sizeLimit", "'1Gi'", "'1024Mi'", "5"), text("medium", "'Memory'")),
		object("configMap", text("name", "'c'"), number("defaultMode"), boolean("optional")), object("hostPath", text("path", "'/'"))),
	text("dnsPolicy", "'Default'"), number("terminationGracePeriodSeconds"), number("priority"), boolean("hostNetwork"), boolean("automountServiceAccountToken"), text("nodeName", "'n'"),
	object("securityContext", number("fsGroup"), boolean("runAsNonRoot"), object("seccompProfile", text("type", "'RuntimeDefault'")), scalar("supplementalGroups", "[1, 2]")),
	list("topologySpreadConstraints", 2, text("topologyKey", "'zone'"), text("whenUnsatisfiable", "'ScheduleAnyway'", "'DoNotSchedule'"), number("maxSkew")),
	list("hostAliases", 1, text("ip", "'10.0.0.1'")), list("imagePullSecrets", 1, text("name", "'s'")),
	scalar("nodeSelector", `{"disk": "slow"}`, "{}"), scalar("tolerations", "[]"), object("affinity", object("nodeAffinity")), scalar("overhead", quantities...),
	scalar("volumes", "object.?spec.volumes.orValue([])"), scalar("unknown", "1"),
}

var objectMeta = object("metadata",
	scalar("labels", `{"new": "yes"}`, `{"app": "moved"}`, `{"app": object.metadata.name, "x": ""}`, "{}", "object.metadata.labels", "null", `{"n": 1}`),
	scalar("annotations", `{"a": "b"}`, "{}", "object.metadata.?labels.orValue({})", `{?"a": optional.none(), ?"b": optional.of("c")}`),
	scalar("finalizers", "['example.com/a']", "['example.com/c']", "['example.com/c', 'example.com/b', 'example.com/d']", "[]", "['example.com/c', 'example.com/c']", "object.metadata.?finalizers.orValue([])"),
	text("generateName", "'g-'"), scalar("creationTimestamp", "'2026-01-02T03:04:05Z'"), scalar("resourceVersion", "'1'"),
)

// configurable maps the kinds of generated requests to fields.
var configurable = map[string][]field{
	"Pod": {objectMeta, object("spec", podSpec...), object("spec", podSpec...)},
	"Deployment": {objectMeta, object("spec",
		number("replicas"), number("minReadySeconds"), boolean("paused"), number("revisionHistoryLimit"),
		object("strategy", text("type", "'Recreate'", "'RollingUpdate'"), object("rollingUpdate", scalar("maxSurge", "1", "'25%'", "0"))),
		object("selector", scalar("matchLabels", `{"a": "b"}`)), object("template", objectMeta, object("spec", podSpec...)), object("template", object("spec", podSpec...)),
	)},
	"Widget": {objectMeta, object("spec",
		number("replicas"), number("size"), scalar("ratio", "0.5", "2", "1.0"), text("note", "'n'"), boolean("on"), scalar("parts", "['c']"),
		scalar("tags", "['x']", "['y', 'x']", "['y', 'z']", "[]"), object("frame", text("color", "'blue'")), object("free", number("a"), object("b", text("c", "'d'")), list("e", 0, text("f", "'g'"))),
		list("slots", 2, text("name", "'top'", "'end'"), text("side", "'left'", "'right'"), number("depth")),
	)},
}

// object generates an object of the named type with some of the fields.
func (g *generator) object(name string, fields []field, keys int) string {
	var set []string
	seen := map[string]bool{}
	add := func(f field) {
		if !seen[f.name] {
			seen[f.name] = true
			set = append(set, g.field(name, f))
		}
	}
	for _, f := range fields[:keys] {
		if !g.Chance(8) {
			add(f)
		}
	}
	if rest := fields[keys:]; len(rest) > 0 {
		for range harness.Pick(g, 1, 1, 1, 2, 2, 3, 0) {
			add(harness.Pick(g, rest...))
		}
	}
	return name + "{" + strings.Join(set, ", ") + "}"
}

// field generates the value of a field. It prefers the first values.
func (g *generator) field(parent string, f field) string {
	name := parent + "." + f.name
	var value string
	switch {
	case f.values != nil && g.Chance(80):
		value = harness.Pick(g, f.values[:min(len(f.values), 4)]...)
	case f.values != nil:
		value = harness.Pick(g, f.values...)
	case f.keys > 0 && g.Chance(20) && slices.Contains([]string{"containers", "volumes", "env", "ports"}, f.name):
		path := strings.Replace(parent, "Object", "object", 1)
		if strings.Contains(parent, "ontainers") {
			path = "c"
		}
		value = fmt.Sprintf("%s.?%s.orValue([]).map(c, %s)", path, f.name, strings.Replace(g.object(name, f.fields[f.keys:], 0), "{", "{"+f.fields[0].name+": c."+f.fields[0].name+", ", 1))
		value = strings.Replace(value, ", }", "}", 1)
	case f.keys > 0 || len(f.fields) > 0 && strings.HasSuffix(f.name, "Headers"):
		var elements []string
		for range harness.Pick(g, 1, 1, 2, 2, 3, 0) {
			elements = append(elements, g.object(name, f.fields, f.keys))
		}
		value = "[" + strings.Join(elements, ", ") + "]"
	default:
		value = g.object(name, f.fields, 0)
	}
	switch {
	case g.Chance(3):
		return "?" + f.name + ": optional.of(" + value + ")"
	case g.Chance(3):
		return "?" + f.name + ": optional.none()"
	case g.Chance(1):
		return f.name + ": Object.wrong{a: 1}"
	}
	return f.name + ": " + value
}
