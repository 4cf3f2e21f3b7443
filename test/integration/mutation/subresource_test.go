// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"testing"

	"celador.io/celador/test/integration/testserver"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A policy that matches pods/status applies only to status writes. The server keeps only its
// changes of the status.
func TestStatus(t *testing.T) {
	t.Parallel()
	ns, ctx := namespace(t), t.Context()
	enforceAll(t, ns,
		"status", on("UPDATE", "", "pods/status")+mutations(
			apply(`Object{status: Object.status{message: request.subResource + " of " + object.kind + " was " + oldObject.status.phase}, metadata: Object.metadata{labels: {"status": "written"}}}`)),
		"main", on("UPDATE", "", "pods")+mutations(jsonPatch(`[JSONPatch{op: "add", path: "/metadata/annotations", value: {"main": "written"}}]`)),
	)
	client := core.CoreV1().Pods(ns)
	testserver.Must(client.Create(ctx, newPod("web"), metav1.CreateOptions{}))(t)
	got := testserver.Must(client.Patch(ctx, "web", types.MergePatchType, []byte(`{"status": {"phase": "Running"}}`), metav1.PatchOptions{}, "status"))(t)
	if got.Status.Message != "status of Pod was Pending" || got.Status.Phase != corev1.PodRunning || got.Annotations != nil {
		t.Errorf("status: got status %v, annotations %v", got.Status, got.Annotations)
	}
	got = testserver.Must(client.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata": {"labels": {"a": "b"}}}`), metav1.PatchOptions{}))(t)
	expectEqual(t, "annotations", map[string]string{"main": "written"}, got.Annotations)
	if got.Status.Message != "status of Pod was Pending" {
		t.Errorf("got message %q after an update of the pod", got.Status.Message)
	}
}

// A policy that matches a scale subresource sees a Scale object. Its schema is not published with
// the group of the parent, so apply configurations fail, as in Kubernetes.
func TestScale(t *testing.T) {
	t.Parallel()
	ns, ctx := namespace(t), t.Context()
	const many = `matchConditions: [{name: many, expression: "object.kind == 'Scale' && object.spec.replicas > 3"}]`
	enforce(t, ns, on("UPDATE", "apps", "deployments/scale")+mutations(jsonPatch(`[JSONPatch{op: "replace", path: "/spec/replicas", value: 3}]`))+many)
	client := core.AppsV1().Deployments(ns)
	labels := map[string]string{"app": "web"}
	testserver.Must(client.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: newPod("").Spec},
		},
	}, metav1.CreateOptions{}))(t)
	scale := func(replicas int32) (*autoscalingv1.Scale, error) {
		return client.UpdateScale(ctx, "web", &autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: ns}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas},
		}, metav1.UpdateOptions{})
	}
	for _, step := range []struct{ wanted, got int32 }{{2, 2}, {10, 3}} {
		scaled := testserver.Must(scale(step.wanted))(t)
		if stored := testserver.Must(client.Get(ctx, "web", metav1.GetOptions{}))(t); scaled.Spec.Replicas != step.got || *stored.Spec.Replicas != step.got {
			t.Errorf("scaled to %d: got %d and %d, want %d", step.wanted, scaled.Spec.Replicas, *stored.Spec.Replicas, step.got)
		}
	}

	merging := enforceAll(t, ns, "a", on("UPDATE", "apps", "deployments/scale")+mutations(apply(`Object{spec: Object.spec{replicas: 3}}`))+many)[0]
	_, err := scale(10)
	expectRefused(t, err, merging, "error applying patch: failed to convert patch object to typed object: no corresponding type for autoscaling/v1, Kind=Scale",
		metav1.StatusReasonInvalid)
}

// The object of a connect request holds its options.
func TestConnect(t *testing.T) {
	ns := namespace(t)
	testserver.Must(core.CoreV1().Pods(ns).Create(t.Context(), newPod("web"), metav1.CreateOptions{}))(t)
	exec := func() error {
		return core.CoreV1().RESTClient().Post().Namespace(ns).Resource("pods").Name("web").SubResource("exec").
			Param("container", "idle").Param("command", "date").Do(t.Context()).Error()
	}
	expectError(t, exec(), "pod web does not have a host assigned", metav1.StatusReasonBadRequest)

	name := enforce(t, ns, on("CONNECT", "", "pods/exec")+mutations(
		jsonPatch(`[JSONPatch{op: "replace", path: "/container", value: request.subResource + "-of-" + object.kind}]`)))
	expectError(t, exec(), "container exec-of-PodExecOptions is not valid for pod web", metav1.StatusReasonBadRequest)

	if err := policies.AdmissionregistrationV1().MutatingAdmissionPolicies().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	refusing := enforce(t, ns, on("CONNECT", "", "pods/exec")+mutations(jsonPatch(`[JSONPatch{op: "add", path: "/container", value: object.missing}]`)))
	expectRefused(t, exec(), refusing, "", metav1.StatusReasonInvalid)
}
