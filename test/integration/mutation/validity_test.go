// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"testing"

	"celador.io/celador/test/integration/testserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Each mutation sees the defaults of fields that earlier mutations added.
func TestDefaultsOfMutations(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	enforce(t, ns, on("CREATE", "", "pods")+mutations(
		apply(`Object{spec: Object.spec{containers: [Object.spec.containers{name: "sidecar", image: "registry.k8s.io/pause:latest"}]}}`),
		jsonPatch(`[JSONPatch{op: "add", path: "/metadata/annotations", value: {
			"pull": object.spec.containers[1].imagePullPolicy, "messages": object.spec.containers[1].terminationMessagePath}}]`),
	))
	got := testserver.Must(core.CoreV1().Pods(ns).Create(t.Context(), newPod("web"), metav1.CreateOptions{}))(t)
	want := corev1.Container{Name: "sidecar", Image: "registry.k8s.io/pause:latest", ImagePullPolicy: corev1.PullAlways,
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile}
	if len(got.Spec.Containers) != 2 {
		t.Fatalf("got containers %v, want two", got.Spec.Containers)
	}
	added := got.Spec.Containers[1]
	added.VolumeMounts = nil // the token of the account
	expectEqual(t, "added container", want, added)
	expectEqual(t, "annotations", map[string]string{"pull": "Always", "messages": "/dev/termination-log"}, got.Annotations)
}

// The API validates objects after policies have changed them.
func TestMutatedObjectsAreValidated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ mutation, want string }{
		"wrong value": {apply(`Object{spec: Object.spec{dnsPolicy: "Sometimes"}}`),
			`Pod "web" is invalid: spec.dnsPolicy: Unsupported value: "Sometimes": supported values: `},
		"wrong name": {apply(`Object{spec: Object.spec{containers: [Object.spec.containers{name: "No Name", image: "a"}]}}`),
			`Pod "web" is invalid: spec.containers[1].name: Invalid value: "No Name"`},
		"wrong label": {jsonPatch(`[JSONPatch{op: "add", path: "/metadata/labels", value: {"a b": "c"}}]`),
			`Pod "web" is invalid: metadata.labels: Invalid value: "a b"`},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			// The error comes from the API, not from the policy.
			enforce(t, ns, on("CREATE", "", "pods")+mutations(tc.mutation)+"failurePolicy: Ignore")
			_, err := core.CoreV1().Pods(ns).Create(t.Context(), newPod("web"), metav1.CreateOptions{})
			expectError(t, err, tc.want, metav1.StatusReasonInvalid)
		})
	}
}
