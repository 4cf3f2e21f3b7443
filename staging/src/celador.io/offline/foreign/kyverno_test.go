// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"path/filepath"
	"strings"
	"testing"

	"celador.io/offline/foreign"
	"celador.io/offline/suite"
)

const (
	outdatedPolicy = "apiVersion: admissionregistration.k8s.io/VERSION\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\n"
	configMap      = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	kyvernoHeader  = "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\n"
)

// TestKyvernoOperations converts results with operations of their own, from directories.
func TestKyvernoOperations(t *testing.T) {
	for result, want := range map[string]string{
		"operation: UPDATE": "UPDATE object oldObject", "operation: DELETE": "DELETE oldObject", "operation: CREATE": "CREATE object",
		"namespace: ''":           "DELETE oldObject", // the operation of the values
		"operation: CONNECT":      "results[0].operation: want CREATE, UPDATE or DELETE",
		"patchedResources: x":     "results[0].patchedResources: a DELETE has no resulting object",
		"operation: UPDATE, x: 1": "results[0].x: unknown field",
	} {
		file := filepath.Join(write(t, map[string]string{
			"policies/p.yaml": strings.Replace(outdatedPolicy, "VERSION", "v1", 1), "resources/deep/c.yaml": configMap,
			"kyverno-test.yaml": kyvernoHeader + "policies: [policies]\nresources: [resources/]\nvalues: {globalValues: {request.operation: DELETE}}\n" +
				"results: [{policy: p, isValidatingAdmissionPolicy: true, kind: ConfigMap, resources: [c], result: pass, " + result + "}]\n",
		}), "kyverno-test.yaml")
		loaded, err := (&suite.Loader{Formats: foreign.Formats()}).Load(file)
		if err != nil {
			if !strings.Contains(err.Error(), ": "+want) {
				t.Errorf("%s: error %v, want %s", result, err, want)
			}
			continue
		}
		request := loaded[0].Suite.Cases[0].Request
		got := request.Operation
		if request.Object != nil {
			got += " object"
		}
		if request.OldObject != nil {
			got += " oldObject"
		}
		if got != want {
			t.Errorf("%s: request is %s, want %s", result, got, want)
		}
	}
}

func TestKyvernoSources(t *testing.T) {
	for source, want := range map[string]string{
		"https://example.com/policy.yaml": "policies[0]: https://example.com/policy.yaml is a URL, and a run reads no network",
		"git@example.com:x/y":             "policies[0]: git@example.com:x/y is a URL",
		"none.yaml":                       "policies[0]: ",
		"empty":                           "policies[0]: ",
	} {
		file := filepath.Join(write(t, map[string]string{
			"c.yaml": configMap, "empty/.hidden.yaml": "a: 1",
			"kyverno-test.yaml": kyvernoHeader + "policies: ['" + source + "']\nresources: [c.yaml]\nresults: [{policy: p, isValidatingAdmissionPolicy: true, kind: ConfigMap, resources: [c], result: pass}]\n",
		}), "kyverno-test.yaml")
		if _, err := (&suite.Loader{Formats: foreign.Formats()}).Load(file); err == nil || !strings.Contains(err.Error(), "kyverno-test.yaml:3: "+want) {
			t.Errorf("%s: error %v, want %s", source, err, want)
		}
	}
}

// TestOutdatedPolicies converts policies of versions that servers do not serve by default.
func TestOutdatedPolicies(t *testing.T) {
	for version, outdated := range map[string]bool{"v1": false, "v1beta1": true, "v1alpha1": true} {
		file := filepath.Join(write(t, map[string]string{
			"p.yaml": strings.Replace(outdatedPolicy, "VERSION", version, 1), "c.yaml": configMap,
			"kyverno-test.yaml": kyvernoHeader + "policies: [p.yaml]\nresources: [c.yaml]\nresults: [{policy: p, isValidatingAdmissionPolicy: true, kind: ConfigMap, resources: [c], result: pass}]\n",
		}), "kyverno-test.yaml")
		loaded, err := (&suite.Loader{Formats: foreign.Formats()}).Load(file)
		if err != nil {
			t.Fatal(err)
		}
		s := loaded[0].Suite
		if text := string(s.Manifests[0].Inline); !strings.Contains(text, `"admissionregistration.k8s.io/v1"`) {
			t.Errorf("%s: the policy is %s", version, text)
		}
		for _, decision := range suite.Conclusions() {
			if got := strings.Contains(s.Cases[0].Notes[decision], "The policy is of version "+version); got != outdated {
				t.Errorf("%s: note of %s is %q", version, decision, s.Cases[0].Notes[decision])
			}
		}
	}
}
