// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
)

// guarded returns a suite without cases.
func guarded(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../staging/src/celador.io/offline/suite/testdata/guarded.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// runSuite runs a suite and returns its only result.
func runSuite(t testing.TB, text string) suite.Result {
	t.Helper()
	return runSuiteIn(t, t.TempDir(), text)
}

// runSuiteIn runs a suite in a directory and returns its only result.
func runSuiteIn(t testing.TB, directory, text string) suite.Result {
	t.Helper()
	file := filepath.Join(directory, "suite.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tests, err := new(suite.Loader).Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return (&suite.Runner{Backend: offlinebackend.KubeAPIServer}).Run(t.Context(), tests)[0]
}

// TestPatchOfPod compares objects to which a server adds random names.
func TestPatchOfPod(t *testing.T) {
	text := strings.ReplaceAll(guarded(t), "resources: [configmaps]", "resources: [configmaps, pods]")
	text = strings.Replace(text, "Object{data: {'color': 'blue'}}", "Object{metadata: Object.metadata{labels: {'color': 'blue'}}}", 1)
	result := runSuite(t, text+`
- name: pod
  request:
    object:
      apiVersion: v1
      kind: Pod
      metadata: {generateName: x-, labels: {policy: color}}
      spec: {containers: [{name: a, image: b}]}
  expect:
    decision: Allowed
    patch: [{op: add, path: /metadata/labels/color, value: blue}]
`)
	if c := result.Cases[0]; !c.Passed() {
		t.Errorf("error %v, mismatches %+v", c.Err, c.Mismatches)
	}
}

// TestObjectOfConnection expects an object of an answer without one.
func TestObjectOfConnection(t *testing.T) {
	result := runSuite(t, guarded(t)+`
- name: exec
  request:
    operation: CONNECT
    resource: {version: v1, resource: pods}
    subResource: exec
    name: x
    oldObject: {apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, image: b}]}}
    object: {apiVersion: v1, kind: PodExecOptions, command: [sh]}
  expect: {decision: NoMatch, object: {nonsense: 1}}
`)
	if c := result.Cases[0]; c.Err != nil || len(c.Mismatches) != 1 || c.Mismatches[0].Field != "object" {
		t.Errorf("error %v, mismatches %+v", c.Err, c.Mismatches)
	}
}

// TestPatchOfJob compares objects in which a server repeats their UID and their name.
func TestPatchOfJob(t *testing.T) {
	text := strings.ReplaceAll(guarded(t), `apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]`, `apiGroups: [batch], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [jobs]`)
	text = strings.Replace(text, "Object{data: {'color': 'blue'}}", "Object{metadata: Object.metadata{labels: {'color': 'blue'}}}", 1)
	result := runSuite(t, text+`
- name: job
  request:
    object:
      apiVersion: batch/v1
      kind: Job
      metadata: {generateName: x-, labels: {policy: color}}
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}
  expect:
    decision: Allowed
    patch: [{op: add, path: /metadata/labels/color, value: blue}]
`)
	if c := result.Cases[0]; !c.Passed() {
		t.Errorf("error %v, mismatches %+v", c.Err, c.Mismatches)
	}
}
