// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// stamp returns the manifests of a policy and its binding that add a text to objects of a
// resource.
func stamp(name, group, resource, text string) string {
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %[1]s.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [%[2]q], apiVersions: [v1], operations: [CREATE], resources: [%[3]s]}]
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{metadata: Object.metadata{annotations: {"stamps": object.metadata.?annotations.stamps.orValue("") + "%[4]s"}}}'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s.static.k8s.io}
spec: {policyName: %[1]s.static.k8s.io}
`, name, group, resource, text)
}

// Mutating policies from files run before those of the API, and they alone apply to policies.
func TestMutatingPolicies(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b.yaml", stamp("b", "", "configmaps", "b"))
	write(t, dir, "policies.yaml", stamp("policies", "admissionregistration.k8s.io", "validatingadmissionpolicies", "file"))
	server := testserver.Start(t, t.TempDir(), configure(t, map[string]string{"MutatingAdmissionPolicy": dir}))
	client := clients{server.Clients()}

	if got, err := client.stamps(t.Context()); err != nil || got != "b" {
		t.Errorf("from the start: got %q, %v", got, err)
	}
	for _, resource := range []string{"configmaps", "validatingadmissionpolicies"} {
		client.stampThroughAPI(t, resource)
	}
	client.eventuallyStamped(t, "bapi")

	created, err := client.create(t.Context(), "stamped")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"stamps": "file"}, created.Annotations); diff != "" {
		t.Errorf("annotations of a policy (-want +got):\n%s", diff)
	}

	write(t, dir, "a.yaml", stamp("a", "", "configmaps", "a"))
	client.eventuallyStamped(t, "abapi")
	// As long as one file is invalid, the manifests that were loaded before stay in effect.
	write(t, dir, "a.yaml", strings.Replace(stamp("a", "", "configmaps", "c"), "reinvocationPolicy: Never", "reinvocationPolicy: Sometimes", 1))
	write(t, dir, "b.yaml", stamp("b", "", "configmaps", "d"))
	if got, err := client.stamps(t.Context()); err != nil || got != "abapi" {
		t.Errorf("with a wrong file: got %q, %v", got, err)
	}
	if err := os.Remove(filepath.Join(dir, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	client.eventuallyStamped(t, "dapi")
}

// stampThroughAPI creates policy "api" for a resource of any group.
func (c clients) stampThroughAPI(t *testing.T, resource string) {
	t.Helper()
	documents := strings.Split(strings.ReplaceAll(stamp("api-"+resource, "*", resource, "api"), ".static.k8s.io", ""), "---\n")
	policy, binding := testserver.Parse[v1.MutatingAdmissionPolicy](t, documents[0]), testserver.Parse[v1.MutatingAdmissionPolicyBinding](t, documents[1])
	if _, err := c.Policies.AdmissionregistrationV1().MutatingAdmissionPolicies().Create(t.Context(), &policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Policies.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Create(t.Context(), &binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// stamps returns the texts that policies added to a new config map in a dry run.
func (c clients) stamps(ctx context.Context) (string, error) {
	got, err := c.Core.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "data"}},
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return "", err
	}
	return got.Annotations["stamps"], nil
}

func (c clients) eventuallyStamped(t *testing.T, want string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		got, err := c.stamps(ctx)
		if err == nil && got != want {
			err = fmt.Errorf("got stamps %q, want %q", got, want)
		}
		return err
	})
}

// The server does not start with invalid manifests.
func TestWrongMutatingPolicies(t *testing.T) {
	const inline = "mutations: [{expression: 'null'}]\n---"
	good := stamp("a", "", "configmaps", "a")
	alpha := good[:strings.Index(good, "mutations:")] + inline + strings.SplitN(good, "---", 2)[1]
	for name, test := range map[string]struct{ content, want string }{
		"disabled field": {alpha, "spec.mutations[0].expression: Forbidden: requires the MutatingAdmissionPolicyInlineExpressions feature gate to be enabled"},
		"wrong name":     {strings.ReplaceAll(good, "a.static.k8s.io", "a"), `"a" in file "DIR/m.yaml" must have a name ending with ".static.k8s.io"`},
		"another kind":   {forbid("first"), "unsupported resource type *v1.ValidatingAdmissionPolicy"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "m.yaml", test.content)
			got := testserver.StartError(t, configure(t, map[string]string{"MutatingAdmissionPolicy": dir}))
			if want := strings.ReplaceAll(test.want, "DIR", dir); !strings.Contains(got, want) {
				t.Errorf("got error %q, want %q", got, want)
			}
		})
	}
}
