// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/component-base/metrics/testutil"

	"celador.io/celador/deploy"
	"celador.io/celador/test/integration/livesuite"
	"celador.io/celador/test/integration/testserver"
)

// statusDenied is a policy in a file that denies status updates of one policy.
const statusDenied = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: status-denied.static.k8s.io}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [admissionregistration.k8s.io], apiVersions: ["*"], operations: [UPDATE], resources: [validatingadmissionpolicies/status], resourceNames: [monitored-without-status.example.com]}]}
  validations: [{expression: "false"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: status-denied.static.k8s.io}
spec: {policyName: status-denied.static.k8s.io, validationActions: [Deny]}
`

// admissionFiles writes statusDenied into a directory and returns the flag with which the server
// reads the directory.
func admissionFiles(t *testing.T, dir string) string {
	t.Helper()
	writeFile(t, filepath.Join(dir, "policy.yaml"), statusDenied)
	config := filepath.Join(t.TempDir(), "admission.yaml")
	writeFile(t, config, fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionPolicy
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: ValidatingAdmissionPolicyConfiguration, staticManifestsDir: %q}
`, dir))
	return "--admission-control-config-file=" + config
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// testMonitoring causes what the dashboard and the rules of deploy/ watch, and checks that the
// server then has all series that their queries read. files is the directory of the policies in
// files.
func testMonitoring(t *testing.T, server *livesuite.Server, files string) {
	writeFile(t, filepath.Join(files, "invalid.yaml"), "kind: Nothing")
	text := testserver.Must(os.ReadFile("testdata/monitoring.yaml"))(t)
	var objects []*unstructured.Unstructured
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		objects = append(objects, &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, string(document))})
	}
	server.Install(t, objects...)

	gadget := func(name, text string, spec map[string]any) *unstructured.Unstructured {
		spec["text"] = text
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "monitored.example.com/v1", "kind": "Gadget", "metadata": map[string]any{"name": name, "namespace": "default"}, "spec": spec,
		}}
	}
	good, bad := gadget("good", "007", map[string]any{"divisor": int64(1)}), gadget("bad", "seven", map[string]any{"divisor": int64(1)})
	server.Install(t, good, bad)
	gadgets := func(version string) dynamic.ResourceInterface {
		return server.Objects.Resource(schema.GroupVersionResource{Group: "monitored.example.com", Version: version, Resource: "gadgets"}).Namespace("default")
	}
	if _, err := gadgets("v1").Create(t.Context(), gadget("undefaulted", "7", map[string]any{}), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("got error %v, want the gadget without a divisor denied", err)
	}
	converted := gadgets("v2")
	// The objects are older than the rule that does not convert one of them.
	patch := []byte(`[{"op": "replace", "path": "/spec/conversion/converters/0/rules/0/rule", "value": "string(int(self.spec.text))"}]`)
	testserver.Must(server.Objects.Resource(definitions).Patch(t.Context(), "gadgets.monitored.example.com", types.JSONPatchType, patch, metav1.PatchOptions{}))(t)
	testserver.Eventually(t, func(ctx context.Context) error {
		if _, err := converted.Get(ctx, "bad", metav1.GetOptions{}); !apierrors.IsInternalError(err) {
			return fmt.Errorf("got error %w, want one of the conversion", err)
		}
		return nil
	})
	testserver.Must(converted.Get(t.Context(), "good", metav1.GetOptions{}))(t)

	reads := testserver.Must(deploy.Reads())(t)
	testserver.Eventually(t, func(ctx context.Context) error {
		// The webhook takes effect some time after its creation.
		for _, name := range []string{"monitored", "excluded", "unreachable"} {
			sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
			_, err := server.Core.CoreV1().ConfigMaps("default").Create(ctx, sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if apierrors.IsInvalid(err) != (name == "monitored") {
				return fmt.Errorf("creation of config map %s: %w", name, err)
			}
		}
		// A policy looks namespaces up, and sees the change.
		change := fmt.Appendf(nil, `{"metadata": {"annotations": {"change": %q}}}`, testserver.UniqueName("change"))
		if _, err := server.Core.CoreV1().Namespaces().Patch(ctx, "default", types.MergePatchType, change, metav1.PatchOptions{}); err != nil {
			return err
		}
		text, err := server.Core.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
		if err != nil {
			return err
		}
		metrics := testutil.NewMetrics()
		if err := testutil.ParseMetrics(string(text), &metrics); err != nil {
			return err
		}
		for _, read := range reads {
			if !has(metrics, read) && !strings.HasPrefix(read.Metric, "celador_webhook_") { // of the polyfill
				return fmt.Errorf("no series of %s with the labels %v and the values %v, which %q read", read.Metric, read.Labels, read.Matchers, read.Sources)
			}
		}
		return nil
	})
}

// has reports whether the metrics have a series that a query reads.
func has(metrics testutil.Metrics, read deploy.Read) bool {
	for _, sample := range metrics[read.Metric] {
		labels := map[string]string{}
		for label, value := range sample.Metric {
			labels[string(label)] = string(value)
		}
		if read.Selects(labels) {
			return true
		}
	}
	return false
}
