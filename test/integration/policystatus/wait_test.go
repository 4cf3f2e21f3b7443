// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/wait"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

func TestKubectlWait(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("wait") + ".example.com"
	policy := write(t, matching(group, "v1", "widgets")+`validations: [{expression: object.spec.size < 5}]`)
	for _, step := range []struct {
		before    func()
		condition string
	}{
		{func() {}, "Available=False"},
		{func() { define(t, widgets(t, group, "v1", "{size: {type: integer}}")) }, "Available"},
	} {
		step.before()
		flags := genericclioptions.NewConfigFlags(false)
		flags.WrapConfigFn = func(*rest.Config) *rest.Config { return rest.CopyConfig(admin.Config) }
		var out bytes.Buffer
		command := wait.NewCmdWait(flags, genericiooptions.IOStreams{In: &out, Out: &out, ErrOut: &out})
		command.SetArgs([]string{"validatingadmissionpolicy/" + policy.Name, "--for=condition=" + step.condition, "--timeout=60s"})
		if err := command.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), "condition met") {
			t.Fatalf("waiting for %s: got error %v and output:\n%s", step.condition, err, out.String())
		}
	}
}

// Events say when a policy ceases to be available and when it is so again. Not one for a
// policy that is fine from the start.
func TestEvents(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("events") + ".example.com"
	fine := write(t, matching("apps", "v1", "deployments")+`validations: [{expression: object.spec.replicas < 5}]`)
	policy := write(t, matching(group, "v1", "widgets")+`validations: [{expression: object.spec.size < 5}]`)
	expectEvents(t, policy.Name, "Warning Misconfigured")
	define(t, widgets(t, group, "v1", "{size: {type: integer}}"))
	expectEvents(t, policy.Name, "Normal Configured", "Warning Misconfigured")
	mistyped := write(t, matching("apps", "v1", "deployments")+`validations: [{expression: object.spec.replcias < 5}]`)
	expectEvents(t, mistyped.Name, "Warning TypeErrors")
	expect(t, fine.Name, fits)
	expectEvents(t, fine.Name)
}

// expectEvents wants events about a policy, by type and reason, sorted.
func expectEvents(t *testing.T, policy string, want ...string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		list, err := core.EventsV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		found := map[string]eventsv1.Event{}
		for _, event := range list.Items {
			if event.Regarding.Name == policy {
				found[event.Type+" "+event.Reason] = event
			}
		}
		if len(found) != len(want) {
			return fmt.Errorf("got events %v, want %q", found, want)
		}
		for _, name := range want {
			event := found[name]
			if event.ReportingController != "admission-policy-status" || event.Regarding.Kind != "ValidatingAdmissionPolicy" || event.Regarding.UID == "" {
				return fmt.Errorf("got event %v, want %s", event, name)
			}
			reason := map[string]string{
				v1.PolicyReasonMisconfigured: "no custom resource definition or API server serves widgets",
				v1.PolicyReasonTypeErrors:    "spec.validations[0].expression:1:12: undefined field 'replcias': did you mean replicas? (apps/v1, Kind=Deployment)",
			}[event.Reason]
			if event.Type == corev1.EventTypeWarning && !strings.Contains(event.Note, reason) {
				return fmt.Errorf("got note %q, want the reason", event.Note)
			}
		}
		return nil
	})
}
