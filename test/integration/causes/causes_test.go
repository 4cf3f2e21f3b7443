// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package causes tests the causes of requests that validating policies deny. All tests share one
// server with an audit log and the feature gate AdmissionPolicyCauses.
package causes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

var (
	admin testserver.Clients
	// auditLog is the path of the audit log, in which the server logs the creation of config maps.
	auditLog string
)

func TestMain(m *testing.M) {
	os.Exit(testserver.AuditedMain(m, func(clients testserver.Clients, log string) { admin, auditLog = clients, log }, "--feature-gates=AdmissionPolicyCauses=true"))
}

// policy creates a policy for the creation of config maps in a namespace, with further fields of
// its spec in YAML, and bindings with further fields. All are deleted at the end of the test.
func policy(t *testing.T, name, namespace, spec string, bindings ...string) {
	t.Helper()
	client := admin.Policies.AdmissionregistrationV1()
	testserver.Create(t, client.ValidatingAdmissionPolicies(), &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, `
matchConstraints:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+namespace+`}}
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`+spec),
	})
	for i, fields := range bindings {
		binding := testserver.Parse[v1.ValidatingAdmissionPolicyBindingSpec](t, fields)
		binding.PolicyName = name
		testserver.Create(t, client.ValidatingAdmissionPolicyBindings(), &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(name, "-", i)}, Spec: binding})
	}
}

// await creates a config map until the causes of its denial are the wanted ones, and returns the
// status.
func await(t *testing.T, namespace string, want []metav1.StatusCause) metav1.Status {
	t.Helper()
	var last metav1.Status
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := admin.Core.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		var status apierrors.APIStatus
		if !errors.As(err, &status) || status.Status().Details == nil {
			return fmt.Errorf("got %w, want a denial", err)
		}
		last = status.Status()
		if diff := cmp.Diff(want, last.Details.Causes); diff != "" {
			return errors.New("causes (-want +got):\n" + diff)
		}
		return nil
	})
	return last
}

func cause(policy, binding, text, field string) metav1.StatusCause {
	return metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueInvalid, Field: field,
		Message: fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", policy, binding, text),
	}
}

// Clients see the denials of all policies, bindings, params and validations, in this order, and the
// audit event has them, too. Message, reason and code are those of the first.
func TestCauses(t *testing.T) {
	namespace := admin.Namespace(t, nil)
	for _, name := range []string{"one", "two"} {
		testserver.Create(t, admin.Core.CoreV1().Secrets(namespace), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"limits": "yes"}}})
	}
	policy(t, "b", namespace, `
validations:
- {expression: "true", fieldPath: metadata.name}
- {expression: "false", message: last, fieldPath: "metadata.labels['example.com/team']"}
- {expression: object.data.missing == 'x', fieldPath: data.missing}`, "{validationActions: [Deny, Audit]}")
	policy(t, "a", namespace, `
paramKind: {apiVersion: v1, kind: Secret}
validations:
- {expression: "false", messageExpression: "'limited by ' + params.metadata.name", fieldPath: .data, reason: Forbidden}
- {expression: "false", message: only warns}`, "{validationActions: [Deny], paramRef: {selector: {matchLabels: {limits: 'yes'}}, parameterNotFoundAction: Deny}}",
		"{validationActions: [Warn], paramRef: {name: one, parameterNotFoundAction: Deny}}")
	want := []metav1.StatusCause{
		cause("a", "a-0", "limited by one", "data"), cause("a", "a-0", "only warns", ""),
		cause("a", "a-0", "limited by two", "data"), cause("a", "a-0", "only warns", ""),
		cause("b", "b-0", "last", "metadata.labels['example.com/team']"),
		cause("b", "b-0", "expression 'object.data.missing == 'x'' resulted in error: no such key: data", "data.missing"),
	}
	status := await(t, namespace, want)
	if status.Code != 403 || status.Reason != metav1.StatusReasonForbidden || status.Message != `configmaps "probe" is forbidden: `+want[0].Message {
		t.Errorf("status %+v", status)
	}
	expectAudited(t, namespace, want)
	before := denials(t, "a")
	await(t, namespace, want)
	if got := denials(t, "a") - before; got != 4 {
		t.Errorf("one request counts %d denials of the policy, want each of 4", got)
	}
}

// expectAudited waits until the audit log has an event about the namespace with the causes.
func expectAudited(t *testing.T, namespace string, want []metav1.StatusCause) {
	t.Helper()
	testserver.Eventually(t, func(context.Context) error {
		text, err := os.ReadFile(auditLog)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			var event auditv1.Event
			if !bytes.Contains(line, []byte(namespace)) || json.Unmarshal(line, &event) != nil || event.ResponseStatus == nil || event.ResponseStatus.Details == nil {
				continue // another event, or one that is not written yet
			}
			if cmp.Equal(want, event.ResponseStatus.Details.Causes) {
				return nil
			}
		}
		return errors.New("no event has the causes")
	})
}

// denials returns how many denials of a policy Kubernetes' metric has counted.
func denials(t *testing.T, policy string) (count int) {
	t.Helper()
	text := testserver.Must(admin.Core.CoreV1().RESTClient().Get().AbsPath("/metrics").Do(t.Context()).Raw())(t)
	for line := range strings.Lines(string(text)) {
		labels, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if strings.HasPrefix(labels, "apiserver_validating_admission_policy_check_total{") && strings.Contains(labels, `enforcement_action="deny"`) && strings.Contains(labels, `policy="`+policy+`"`) {
			count += testserver.Must(strconv.Atoi(value))(t)
		}
	}
	return count
}

// A changed fieldPath, a policy that is deleted and one that is created again take effect like other
// changes.
func TestChanges(t *testing.T) {
	namespace := admin.Namespace(t, nil)
	policy(t, "changing", namespace, `validations: [{expression: "false", message: m, fieldPath: data}]`, "{validationActions: [Deny]}")
	policy(t, "staying", namespace, `validations: [{expression: "false", message: m}]`, "{validationActions: [Deny]}")
	staying := cause("staying", "staying-0", "m", "")
	await(t, namespace, []metav1.StatusCause{cause("changing", "changing-0", "m", "data"), staying})
	client := admin.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	patch := func(patch, field string) {
		t.Helper()
		if _, err := client.Patch(t.Context(), "changing", types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		await(t, namespace, []metav1.StatusCause{cause("changing", "changing-0", "m", field), staying})
	}
	patch(`[{"op": "replace", "path": "/spec/validations/0/fieldPath", "value": "metadata.name"}]`, "metadata.name")
	patch(`[{"op": "remove", "path": "/spec/validations/0/fieldPath"}]`, "")
	if err := client.Delete(t.Context(), "changing", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, namespace, []metav1.StatusCause{staying})
}

// The response and the audit event are bounded, however many and long the denials are.
func TestManyLongDenials(t *testing.T) {
	namespace := admin.Namespace(t, nil)
	validation := `{expression: "false", fieldPath: data, message: "` + strings.Repeat("x", 5<<10) + "\"}\n"
	for _, name := range []string{"long-a", "long-b", "long-c", "long-d"} {
		bindings := make([]string, 13)
		for i := range bindings {
			bindings[i] = "{validationActions: [Deny]}"
		}
		policy(t, name, namespace, "validations:\n"+strings.Repeat("- "+validation, 200), bindings...)
	}
	const left = 4*13*200 - 12
	testserver.Eventually(t, func(ctx context.Context) error {
		text, err := admin.Core.CoreV1().RESTClient().Post().AbsPath("/api/v1/namespaces/"+namespace+"/configmaps").Param("dryRun", "All").
			SetHeader("Content-Type", "application/json").Body([]byte(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe"}}`)).Do(ctx).Raw()
		if !apierrors.IsInvalid(err) {
			return fmt.Errorf("got %w, want a denial", err)
		}
		var status metav1.Status
		if err := json.Unmarshal(text, &status); err != nil {
			return err
		}
		if len(text) > 80<<10 {
			t.Fatalf("the response has %d bytes", len(text))
		}
		causes := status.Details.Causes
		if last := causes[len(causes)-1]; last.Message != fmt.Sprintf("%d more denials are left out", left) || last.Field != "" {
			return fmt.Errorf("the last of %d causes is %.200s", len(causes), last.Message)
		}
		return nil
	})
}

// The server refuses a fieldPath that is no path, and warns about one that no kind has.
func TestFieldPathsOfPolicies(t *testing.T) {
	client := admin.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	written := func(path string) *v1.ValidatingAdmissionPolicy {
		return &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("paths")}, Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, `
matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
validations: [{expression: "true", fieldPath: "`+path+`"}]`)}
	}
	_, err := client.Create(t.Context(), written("spec.template.spec.containers[0].image"), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `items of lists cannot be named: write the path of the list, "spec.template.spec.containers"`) {
		t.Errorf("got %v", err)
	}
	stored := testserver.Create(t, client, written("spec.relpicas"))
	want := []v1.ExpressionWarning{{FieldRef: "spec.validations[0].fieldPath", Warning: "apps/v1, Kind=Deployment: spec has no field \"relpicas\": did you mean \"replicas\"?\n"}}
	testserver.Eventually(t, func(ctx context.Context) error {
		found, err := client.Get(ctx, stored.Name, metav1.GetOptions{})
		if err != nil || found.Status.TypeChecking == nil {
			return fmt.Errorf("no status: %w", err)
		}
		if diff := cmp.Diff(want, found.Status.TypeChecking.ExpressionWarnings); diff != "" {
			return errors.New("warnings (-want +got):\n" + diff)
		}
		return nil
	})
}
