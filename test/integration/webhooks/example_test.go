// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// TestLeasesExample checks a webhook that matches all kinds and excludes leases by a condition.
func TestLeasesExample(t *testing.T) {
	e := example{t, "webhook-leases", webhookserver.Admit(t, webhookserver.Allow)}
	e.install()
	e.apply("lease-skipped.yaml")
	e.expectSent("leader", false)
	e.apply("configmap-sent.yaml")
	e.expectSent("settings", true)

	_, err := core.CoordinationV1().Leases("demo").Patch(t.Context(), "leader", types.MergePatchType, []byte(`{"spec": {"holderIdentity": "web-1"}}`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	e.expectSent("leader", false)
	_, err = core.CoreV1().ConfigMaps("demo").Patch(t.Context(), "settings", types.MergePatchType, []byte(`{"data": {"color": "red"}}`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	e.expectSent("settings", true)
}

// TestNodesExample checks a webhook that is not called for requests of kubelets.
func TestNodesExample(t *testing.T) {
	e := example{t, "webhook-nodes", webhookserver.Admit(t, webhookserver.Allow)}
	e.install()
	e.apply("pod.yaml")
	e.expectSent("web", true)

	report := func(phase corev1.PodPhase, groups ...string) {
		t.Helper()
		patch := []byte(`{"status": {"phase": "` + string(phase) + `"}}`)
		_, err := admin.As(t, "system:node:worker-1", groups...).Core.CoreV1().Pods("demo").Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		testserver.ExpectAdmitted(t, err)
	}
	report(corev1.PodRunning, "system:nodes", "system:authenticated")
	e.expectSent("web", false)
	report(corev1.PodFailed, "system:masters", "system:authenticated")
	e.expectSent("web", true)
}

// TestNFSExample checks a webhook that is only called for pods with NFS volumes.
func TestNFSExample(t *testing.T) {
	e := example{t, "webhook-nfs", webhookserver.Admit(t, webhookserver.Allow)}
	e.install()
	for file, want := range map[string]bool{"pod-sent.yaml": true, "pod-skipped.yaml": false, "pod-skipped-bare.yaml": false} {
		e.apply(file)
		e.expectSent(e.parse(file).GetName(), want)
	}
}

// TestBreakGlassExample checks a webhook that is not called for users with permission breakglass.
func TestBreakGlassExample(t *testing.T) {
	e := example{t, "webhook-break-glass", webhookserver.Admit(t, webhookserver.Deny("against the policy"))}
	e.install("role.yaml", "rolebinding.yaml")
	for _, user := range []string{"ann", "bob"} {
		allow(t, "demo", user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}})
	}
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(e.parse("pod.yaml").Object, &pod); err != nil {
		t.Fatal(err)
	}
	write := func(user string, groups ...string) error {
		_, err := admin.As(t, user, append(groups, "system:authenticated")...).Core.CoreV1().Pods("demo").
			Create(t.Context(), &pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	denied := func(err error) error {
		const want = `admission webhook "security-policy.example.com" denied the request: against the policy`
		if !apierrors.IsForbidden(err) || err.Error() != want {
			return fmt.Errorf("got error %w, want %s", err, want)
		}
		return nil
	}

	testserver.ExpectAdmitted(t, denied(write("ann")))
	e.expectSent("debug", true)
	testserver.Eventually(t, func(context.Context) error { return write("bob", "on-call") })
	e.hook.Take()
	testserver.ExpectAdmitted(t, write("bob", "on-call"))
	// An administrator has this permission, too.
	testserver.ExpectAdmitted(t, write("carol", "system:masters"))
	e.expectSent("debug", false)

	if err := core.RbacV1().ClusterRoleBindings().Delete(t.Context(), "security-policy-breakglass", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	testserver.Eventually(t, func(context.Context) error { return denied(write("bob", "on-call")) })
}
