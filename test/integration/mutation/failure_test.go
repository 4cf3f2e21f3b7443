// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"errors"
	"regexp"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failurePolicy applies to failed mutations. Mutations before and after a failed one still apply.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		mutation, want string
		// always is set if the request fails whatever failurePolicy is, as in Kubernetes.
		always bool
	}{
		"missing field": {jsonPatch(`[JSONPatch{op: "add", path: "/data/a", value: object.data.missing}]`), "no such key: missing", false},
		"missing path":  {jsonPatch(`[JSONPatch{op: "remove", path: "/data/missing"}]`), "JSON Patch: ", false},
		"wrong type":    {apply(`Object{metadata: Object.spec{}}`), "type mismatch: ", false},
		"wrong field":   {apply(`Object{colour: "red"}`), "field not declared in schema", false},
		"atomic list": {apply(`Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{
			uid: "1", apiVersion: "v1", kind: "Pod", name: "a"}]}, immutable: 3}`), "error applying patch: ", false},
		"kind":       {jsonPatch(`[JSONPatch{op: "replace", path: "/kind", value: "Secret"}]`), "may not change apiVersion and kind", true},
		"apiVersion": {jsonPatch(`[JSONPatch{op: "replace", path: "/apiVersion", value: "v2"}]`), "may not change apiVersion and kind", true},
		"name":       {jsonPatch(`[JSONPatch{op: "replace", path: "/metadata/name", value: "other"}]`), `may not change metadata.name from "data-`, false},
		"namespace":  {apply(`Object{metadata: Object.metadata{namespace: "default"}}`), "may not change metadata.namespace from", true},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			spec := on("CREATE", "", "configmaps") + mutations(set("before", "'yes'"), tc.mutation, set("after", "'yes'"))
			fail := enforce(t, ns, spec)
			_, err := newConfigMap(t, ns, map[string]string{"some": "data"})
			expectRefused(t, err, fail, "", metav1.StatusReasonInvalid)
			expectError(t, err, tc.want, metav1.StatusReasonInvalid)

			ns = namespace(t)
			enforce(t, ns, spec+"failurePolicy: Ignore")
			got, err := newConfigMap(t, ns, map[string]string{"some": "data"})
			if tc.always {
				expectError(t, err, tc.want, metav1.StatusReasonInvalid)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			expectEqual(t, "data", map[string]string{"some": "data", "before": "yes", "after": "yes"}, got)
		})
	}
}

// The error lists all failures as causes; its message is the first.
func TestSeveralFailures(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	names := enforceAll(t, ns,
		"a", on("CREATE", "", "configmaps")+mutations(set("a", "object.data.first")),
		"b", on("CREATE", "", "configmaps")+mutations(set("b", "object.data.second"))+"failurePolicy: Ignore",
		"c", on("CREATE", "", "configmaps")+mutations(set("c", "object.data.third")),
	)
	_, err := newConfigMap(t, ns, map[string]string{"some": "data"})
	expectRefused(t, err, names[0], "", metav1.StatusReasonInvalid)
	expectCauses(t, err, names[0], "first", names[2], "third")
}

// expectCauses checks that the error has a cause for each pair of a policy and the key that its
// expression does not find.
func expectCauses(t *testing.T, err error, want ...string) {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		t.Fatalf("got error %v, want causes", err)
	}
	var got []string
	for _, cause := range status.Status().Details.Causes {
		match := causeText.FindStringSubmatch(cause.Message)
		if match == nil {
			t.Fatalf("got cause %q", cause.Message)
		}
		got = append(got, match[1], match[2])
	}
	expectEqual(t, "causes", want, got)
}

var causeText = regexp.MustCompile(`^policy '(.+)' with binding '.+' denied request: .* no such key: (\w+)$`)
