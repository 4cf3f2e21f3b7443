// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"cmp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/integration/testserver"
)

// rules returns resource rules in YAML for the creation of config maps. Each argument replaces
// fields of one rule.
func rules(fields ...string) string { return list("resourceRules", fields) }

func exclude(fields ...string) string { return ", " + list("excludeResourceRules", fields) }

func list(name string, rules []string) string {
	var all []string
	for _, fields := range rules {
		for _, field := range []string{`apiGroups: [""]`, `apiVersions: [v1]`, `operations: [CREATE]`, `resources: [configmaps]`} {
			if name, _, _ := strings.Cut(field, ":"); !strings.Contains(fields, name+":") {
				fields += ", " + field
			}
		}
		all = append(all, "{"+strings.TrimPrefix(fields, ", ")+"}")
	}
	return name + ": [" + strings.Join(all, ", ") + "]"
}

// Every request creates config map "probe" with label app=web in a namespace with label
// tier=gold.
func TestMatching(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		// constraints of the policy, by default config maps, and match resources of the binding, in
		// YAML.
		constraints, resources string
		matches                bool
	}{
		"resource":                        {matches: true},
		"another group":                   {constraints: rules(`apiGroups: [apps]`)},
		"another version":                 {constraints: rules(`apiVersions: [v2]`)},
		"another operation":               {constraints: rules(`operations: [UPDATE, DELETE]`)},
		"another resource":                {constraints: rules(`resources: [secrets]`)},
		"a subresource":                   {constraints: rules(`resources: [configmaps/scale]`)},
		"all subresources":                {constraints: rules(`resources: [configmaps/*]`), matches: true},
		"wildcards":                       {constraints: rules(`apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"]`), matches: true},
		"second rule":                     {constraints: rules(`resources: [secrets]`, ``), matches: true},
		"name":                            {constraints: rules(`resourceNames: [other, probe]`), matches: true},
		"another name":                    {constraints: rules(`resourceNames: [other]`)},
		"scope Namespaced":                {constraints: rules(`scope: Namespaced`), matches: true},
		"scope Cluster":                   {constraints: rules(`scope: Cluster`)},
		"excluded":                        {constraints: rules(``) + exclude(`resources: ["*"]`)},
		"another name excluded":           {constraints: rules(``) + exclude(`resourceNames: [other]`), matches: true},
		"object selected":                 {constraints: rules(``) + `, objectSelector: {matchLabels: {app: web}}`, matches: true},
		"object not selected":             {constraints: rules(``) + `, objectSelector: {matchLabels: {app: shop}}`},
		"namespace selected":              {constraints: rules(``) + `, namespaceSelector: {matchLabels: {tier: gold}}`, matches: true},
		"namespace not selected":          {constraints: rules(``) + `, namespaceSelector: {matchLabels: {tier: iron}}`},
		"bound to the object":             {resources: `objectSelector: {matchLabels: {app: web}}`, matches: true},
		"bound to other objects":          {resources: `objectSelector: {matchLabels: {app: shop}}`},
		"bound to the namespace":          {resources: `namespaceSelector: {matchLabels: {tier: gold}}`, matches: true},
		"bound to other namespaces":       {resources: `namespaceSelector: {matchLabels: {tier: iron}}`},
		"bound to the resource":           {resources: rules(``), matches: true},
		"bound to another resource":       {resources: rules(`resources: [secrets]`)},
		"bound to all but the resource":   {resources: rules(`resources: ["*"]`) + exclude(``)},
		"bound to more than the policy's": {constraints: rules(`resources: [secrets]`), resources: rules(`resources: ["*"]`)},
	} {
		t.Run(name, func(t *testing.T) {
			ns := admin.Namespace(t, map[string]string{"tier": "gold"})
			// The condition excludes the requests of other tests.
			policy := writePolicy(t, `
matchConstraints: {`+cmp.Or(tc.constraints, rules(``))+`}
matchConditions: [{name: here, expression: request.namespace == '`+ns+`'}]
validations: [{expression: "false"}]`)
			by := denier{policy, bind(t, policy, `matchResources: {`+tc.resources+`}`)}
			settle(t)
			sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe", Labels: map[string]string{"app": "web"}}}
			_, err := core.CoreV1().ConfigMaps(ns).Create(t.Context(), sent, metav1.CreateOptions{})
			if tc.matches {
				by.expectInvalid(t, err, "failed expression: false")
			} else {
				testserver.ExpectAdmitted(t, err)
			}
		})
	}
}

// An object selector matches if the labels of the object or of the old object match.
func TestObjectSelectorOnUpdate(t *testing.T) {
	t.Parallel()
	ns := admin.Namespace(t, nil)
	policy := writePolicy(t, configMaps("UPDATE")+`validations: [{expression: "false"}]`)
	by := denier{policy, bind(t, policy, `matchResources: {objectSelector: {matchLabels: {guarded: "yes"}},
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+ns+`}}}`)}
	settle(t)
	client := core.CoreV1().ConfigMaps(ns)
	for name, tc := range map[string]struct {
		before, after string
		denied        bool
	}{
		"neither": {before: "no", after: "off"},
		"new":     {before: "no", after: "yes", denied: true},
		"old":     {before: "yes", after: "no", denied: true},
	} {
		t.Run(name, func(t *testing.T) {
			sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"guarded": tc.before}}}
			stored, err := client.Create(t.Context(), sent, metav1.CreateOptions{})
			testserver.ExpectAdmitted(t, err)
			stored.Labels["guarded"] = tc.after
			_, err = client.Update(t.Context(), stored, metav1.UpdateOptions{})
			if tc.denied {
				by.expectInvalid(t, err, "failed expression: false")
			} else {
				testserver.ExpectAdmitted(t, err)
			}
		})
	}
}

// A namespace selector matches namespaces by their own labels, including new ones.
func TestNamespacesAsObjects(t *testing.T) {
	label := testserver.UniqueName("label")
	policy := writePolicy(t, `
matchConstraints:
  namespaceSelector: {matchLabels: {run: `+label+`}}
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [namespaces], scope: Cluster}]
validations: [{expression: namespaceObject != null, message: a namespace is in none}]`)
	by := denier{policy, bind(t, policy, `{}`)}
	settle(t)
	for value, denied := range map[string]bool{label: true, "other": false} {
		sent := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("test"), Labels: map[string]string{"run": value}}}
		_, err := core.CoreV1().Namespaces().Create(t.Context(), sent, metav1.CreateOptions{})
		if denied {
			by.expectInvalid(t, err, "a namespace is in none")
		} else {
			testserver.ExpectAdmitted(t, err)
		}
	}
}
