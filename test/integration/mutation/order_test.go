// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/integration/testserver"
)

// appendOrder is a mutation that adds text, which may be an expression, to data.order.
func appendOrder(text string) string { return set("order", "object.data.order + "+text) }

// Policies come in the order of their names, whichever was there first, and the mutations of
// each in theirs. All see what those before them have left.
func TestOrderOfPolicies(t *testing.T) {
	ns := namespace(t)
	rule := on("CREATE", "", "configmaps")
	enforceAll(t, ns,
		"c", rule+mutations(appendOrder("'5'")),
		"a", rule+mutations(appendOrder("'1'"), appendOrder("'2'")),
		"b", rule+mutations(appendOrder("variables.three"), appendOrder("string(size(object.data.order))"))+`
variables: [{name: three, expression: "object.data.order == '012' ? '3' : 'x'"}]`,
	)
	got := must(newConfigMap(t, ns, map[string]string{"order": "0"}))(t)
	expectEqual(t, "data", map[string]string{"order": "012345"}, got)
}

// Each binding makes the mutations for its own parameters.
func TestOrderOfBindings(t *testing.T) {
	ns, params := namespace(t), namespace(t)
	policy := writePolicy(t, "letters", "paramKind: {apiVersion: v1, kind: ConfigMap}\n"+on("CREATE", "", "configmaps")+mutations(appendOrder("params.data.letter")))
	for _, letter := range []string{"c", "a", "b"} {
		sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: letter}, Data: map[string]string{"letter": letter}}
		must(core.CoreV1().ConfigMaps(params).Create(t.Context(), sent, metav1.CreateOptions{}))(t)
		bindAs(t, testserver.UniqueName(letter), policy, in(ns)+`
paramRef: {namespace: `+params+`, name: `+letter+`, parameterNotFoundAction: Deny}`)
	}
	settle(t)
	got := must(newConfigMap(t, ns, map[string]string{"order": ""}))(t)
	expectEqual(t, "data", map[string]string{"order": "abc"}, got)
}

// A match condition sees the object as the policies before have left it.
func TestConditionsSeeMutations(t *testing.T) {
	ns := namespace(t)
	rule := on("CREATE", "", "configmaps")
	enforceAll(t, ns,
		"a", rule+mutations(set("team", "'blue'")),
		"b", rule+mutations(set("seen", "'yes'"))+`matchConditions: [{name: team, expression: "object.data.?team.orValue('') == 'blue'"}]`,
		"c", rule+mutations(set("never", "'yes'"))+`matchConditions: [{name: team, expression: "object.data.?team.orValue('') == 'red'"}]`,
	)
	got := must(newConfigMap(t, ns, map[string]string{"some": "data"}))(t)
	expectEqual(t, "data", map[string]string{"some": "data", "team": "blue", "seen": "yes"}, got)
}
