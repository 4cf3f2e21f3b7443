// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/integration/testserver"
)

// appendOrder returns a mutation that appends a text, which may be an expression, to data.order.
func appendOrder(text string) string { return set("order", "object.data.order + "+text) }

// Policies run in the order of their names, and mutations in the order of their policy. Each sees
// the changes before it.
func TestOrderOfPolicies(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	rule := on("CREATE", "", "configmaps")
	enforceAll(t, ns,
		"c", rule+mutations(appendOrder("'5'")),
		"a", rule+mutations(appendOrder("'1'"), appendOrder("'2'")),
		"b", rule+mutations(appendOrder("variables.three"), appendOrder("string(size(object.data.order))"))+`
variables: [{name: three, expression: "object.data.order == '012' ? '3' : 'x'"}]`,
	)
	got := testserver.Must(newConfigMap(t, ns, map[string]string{"order": "0"}))(t)
	expectEqual(t, "data", map[string]string{"order": "012345"}, got)
}

// Each binding runs the mutations with its own parameters.
func TestOrderOfBindings(t *testing.T) {
	t.Parallel()
	ns, params := namespace(t), namespace(t)
	policy := writePolicy(t, "letters", "paramKind: {apiVersion: v1, kind: ConfigMap}\n"+on("CREATE", "", "configmaps")+mutations(appendOrder("params.data.letter")))
	for _, letter := range []string{"c", "a", "b"} {
		sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: letter}, Data: map[string]string{"letter": letter}}
		testserver.Must(core.CoreV1().ConfigMaps(params).Create(t.Context(), sent, metav1.CreateOptions{}))(t)
		bindAs(t, testserver.UniqueName(letter), policy, testserver.In(ns)+`
paramRef: {namespace: `+params+`, name: `+letter+`, parameterNotFoundAction: Deny}`)
	}
	settle(t)
	got := testserver.Must(newConfigMap(t, ns, map[string]string{"order": ""}))(t)
	expectEqual(t, "data", map[string]string{"order": "abc"}, got)
}

// A match condition sees the changes of earlier policies.
func TestConditionsSeeMutations(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	rule := on("CREATE", "", "configmaps")
	enforceAll(t, ns,
		"a", rule+mutations(set("team", "'blue'")),
		"b", rule+mutations(set("seen", "'yes'"))+`matchConditions: [{name: team, expression: "object.data.?team.orValue('') == 'blue'"}]`,
		"c", rule+mutations(set("never", "'yes'"))+`matchConditions: [{name: team, expression: "object.data.?team.orValue('') == 'red'"}]`,
	)
	got := testserver.Must(newConfigMap(t, ns, map[string]string{"some": "data"}))(t)
	expectEqual(t, "data", map[string]string{"some": "data", "team": "blue", "seen": "yes"}, got)
}
