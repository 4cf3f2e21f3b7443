// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"celador.io/celador/test/integration/testserver"
)

const annotationPrefix = "mutation.policy.admission.celador.io/"

// Audit annotations name the mutations that changed the object, the changed fields and the round.
func TestAuditAnnotations(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	names := enforceAll(t, ns,
		"a", on("CREATE", "", "configmaps")+mutations(
			set("seen", "object.data.?late.orValue('nothing')"),
			// It changes nothing and has no annotation.
			nothing,
			apply(`Object{metadata: Object.metadata{labels: {"a/b": "c"}}, immutable: true}`),
		)+"reinvocationPolicy: IfNeeded",
		"b", on("CREATE", "", "configmaps")+mutations(set("late", "'yes'")),
		"c", on("CREATE", "", "configmaps")+mutations(set("late", "object.data.missing"))+"failurePolicy: Ignore",
	)
	testserver.Must(newConfigMap(t, ns, map[string]string{"some": "data"}))(t)
	say := func(policy string, mutation int, fields string) string {
		return fmt.Sprintf(`{"policy":"%s","binding":"%[1]s","mutation":%d,"fields":%s}`, policy, mutation, fields)
	}
	expectEqual(t, "annotations", map[string]string{
		"round_0_index_0": say(names[0], 0, `["/data/seen"]`),
		"round_0_index_2": say(names[0], 2, `["/immutable","/metadata/labels/a~1b"]`),
		"round_0_index_3": say(names[1], 0, `["/data/late"]`),
		"round_1_index_0": say(names[0], 0, `["/data/seen"]`),
	}, annotations(t, ns))
}

// Custom resources are changed in place.
func TestAuditAnnotationsOfCustomResources(t *testing.T) {
	t.Parallel()
	const group = "audited.example.com"
	define(t, group)
	ns := namespace(t)
	name := enforce(t, ns, on("CREATE", group, "boxes")+mutations(
		jsonPatch(`[JSONPatch{op: "add", path: "/spec/colour", value: "red"}]`),
		apply(`Object{spec: Object.spec{colour: "blue"}}`),
		apply(`Object{spec: Object.spec{colour: "blue"}}`),
	))
	testserver.Must(newBox(t.Context(), t, group, ns, `{}`))(t)
	expectEqual(t, "annotations", map[string]string{
		"round_0_index_0": fmt.Sprintf(`{"policy":"%s","binding":"%[1]s","mutation":0,"fields":["/spec/colour"]}`, name),
		"round_0_index_1": fmt.Sprintf(`{"policy":"%s","binding":"%[1]s","mutation":1,"fields":["/spec/colour"]}`, name),
	}, annotations(t, ns))
}

func TestUnchangedObjectsAreNotAnnotated(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	enforce(t, ns, on("CREATE", "", "configmaps")+mutations(set("some", "'data'"), apply(`Object{metadata: Object.metadata{name: object.metadata.name}}`)))
	testserver.Must(newConfigMap(t, ns, map[string]string{"some": "data"}))(t)
	expectEqual(t, "annotations", map[string]string{}, annotations(t, ns))
}

// An annotation lists at most fifty fields.
func TestManyFields(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	enforce(t, ns, on("CREATE", "", "configmaps")+mutations(
		jsonPatch(`lists.range(60).map(i, JSONPatch{op: "add", path: "/data/" + string(i), value: "x"})`)))
	testserver.Must(newConfigMap(t, ns, map[string]string{"some": "data"}))(t)
	var value struct{ Fields []string }
	if err := json.Unmarshal([]byte(annotations(t, ns)["round_0_index_0"]), &value); err != nil {
		t.Fatal(err)
	}
	if len(value.Fields) != 50 || value.Fields[49] != "/data/49" {
		t.Errorf("got fields %v, want the first fifty", value.Fields)
	}
}

// annotations returns the annotations of mutations on the event of the only request that created
// a config map or box in the namespace.
func annotations(t *testing.T, namespace string) map[string]string {
	t.Helper()
	ours := map[string]string{}
	for key, value := range testserver.AuditEvent(t, auditLog, namespace).Annotations {
		if rest, ok := strings.CutPrefix(key, annotationPrefix); ok {
			ours[rest] = value
		}
	}
	return ours
}
