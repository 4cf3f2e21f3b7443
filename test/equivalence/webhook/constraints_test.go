// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// constraints are examples of rules and selectors, which apply before match conditions.
func constraints() map[string]example {
	one := func(changes ...func(*hook)) scenario { return scenario{asking("a", "allow", changes...)} }
	named := func(name string) func(*hook) { return inNamespaces(labelled("name", name)) }
	return map[string]example{
		"exact":                      {in: one(exact, matching(rule("apps", "v1", "deployments"))), want: says(asks("a"))},
		"exact, other version":       {in: one(exact, matching(rule("extensions", "v1beta1", "deployments")))},
		"equivalent":                 {in: one(matching(rule("extensions", "v1beta1", "deployments"))), want: says(asks("a"))},
		"no match policy":            {in: one(matching(rule("extensions", "v1beta1", "deployments")), func(h *hook) { h.MatchPolicy = nil })},
		"equivalent without kind":    {in: one(matching(rule("apps", "v1beta1", "deployments"))), want: says("refused (InternalError 500): Internal error occurred: unable to convert to apps/v1beta1, Resource=deployments: unknown kind")},
		"namespace":                  {in: one(named("blue")), want: says(asks("a"))},
		"other namespace":            {in: one(named("red"))},
		"namespace of no name":       {in: one(inNamespaces(having("name", metav1.LabelSelectorOpDoesNotExist))), on: "create in bare", want: says(asks("a"))},
		"no such namespace":          {in: one(named("blue")), on: "create nowhere", want: says(`refused (NotFound 404): namespaces "nowhere" not found`)},
		"no such namespace, no rule": {in: one(named("blue"), matching(rule("", "v1", "pods"))), on: "create nowhere"},
		"bad namespace selector":     {in: one(inNamespaces(having("name", "Resembles"))), want: says(`refused (InternalError 500): Internal error occurred: "Resembles" is not a valid label selector operator`)},
		"bad selector, no rule":      {in: one(inNamespaces(having("name", "Resembles")), matching(rule("", "v1", "pods")))},
		"cluster scope":              {in: one(named("blue")), on: "create node", want: says(asks("a"))},
		"new namespace":              {in: one(named("green")), on: "create namespace", want: says(asks("a"))},
		"object":                     {in: one(ofObjects(labelled("app", "shop"))), want: says(asks("a"))},
		"other object":               {in: one(ofObjects(labelled("app", "parts")))},
		"old object":                 {in: one(ofObjects(labelled("app", "shop"))), on: "delete", want: says(asks("a"))},
		"no object":                  {in: one(ofObjects(labelled("app", "shop"))), on: "delete without"},
		"object without labels":      {in: one(ofObjects(labelled("app", "shop"))), on: "exec"},
		"bad object selector":        {in: one(ofObjects(having("name", "Resembles"))), want: says(`refused (InternalError 500): Internal error occurred: "Resembles" is not a valid label selector operator`)},
		"operation":                  {in: one(matching(rule("*", "*", "*", v1.Update, v1.Delete))), on: "delete", want: says(asks("a"))},
		"other operation":            {in: one(matching(rule("*", "*", "*", v1.Update, v1.Delete)))},
		"connect":                    {in: one(matching(rule("", "v1", "pods/exec", v1.Connect))), on: "exec", want: says(asks("a"))},
		"subresource":                {in: one(matching(rule("apps", "v1", "deployments/scale"))), on: "scale", want: says(asks("a"))},
		"no subresource":             {in: one(matching(rule("apps", "v1", "deployments"))), on: "scale"},
		"any subresource":            {in: one(matching(rule("apps", "v1", "deployments/*"))), on: "update status", want: says(asks("a"))},
		"several rules":              {in: one(matching(rule("", "v1", "pods"), rule("extensions", "v1beta1", "deployments"), rule("apps", "*", "*"))), want: says(asks("a"))},
		"no rules":                   {in: one(matching())},
		"namespaced":                 {in: one(scoped(new(v1.NamespacedScope))), want: says(asks("a"))},
		"namespaced, not it":         {in: one(scoped(new(v1.NamespacedScope))), on: "create node"},
		"cluster":                    {in: one(scoped(new(v1.ClusterScope))), on: "create namespace", want: says(asks("a"))},
		"cluster, not it":            {in: one(scoped(new(v1.ClusterScope)))},
		"no scope":                   {in: one(scoped(nil)), want: says(asks("a"))},
		"webhooks":                   {in: one(), on: "create webhook"},
		"access reviews":             {in: one(), on: "create review"},
		"custom resource":            {in: one(matching(rule("example.com", "v1", "widgets"))), on: "create newer widget", want: says(asks("a"))},
		"all of a kind":              {in: one(matching(rule("*", "*", "*"))), on: "delete collection", want: says(asks("a"))},
		"some of several": {
			in:   scenario{asking("a", "allow", named("red")), asking("b", "allow"), asking("c", "allow", matching(rule("", "v1", "pods"))), asking("d", "allow", when(creates))},
			want: says(asks("b", "d")),
		},
		"several configurations": {
			in:   scenario{asking("c", "allow", configured("first")), asking("b", "allow", configured("second")), asking("a", "allow", configured("third"))},
			want: says(asks("c", "b", "a")),
		},
		"the same name twice": {
			in:   scenario{asking("a", "allow", when("true")), asking("a", "allow", when("false")), asking("a", "allow", configured("other"))},
			want: says(asks("a", "a")),
		},
	}
}
