// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"celador.io/admission/policytest"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/plugin/policy/initializer"

	"celador.io/celador/test/integration/testserver"
)

const lookedUpGroup = "lookedup.example.com"

// slowWidgets is an aggregated server of widgets. Before it answers a list with the widget "known",
// it calls list.
type slowWidgets struct {
	list atomic.Pointer[func(context.Context)]
}

// ServeHTTP implements http.Handler.
func (s *slowWidgets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const group = `{"kind": "APIGroup", "apiVersion": "v1", "name": "` + lookedUpGroup + `", "versions": [{"groupVersion": "` + lookedUpGroup + `/v1", "version": "v1"}],
		"preferredVersion": {"groupVersion": "` + lookedUpGroup + `/v1", "version": "v1"}}`
	w.Header().Set("Content-Type", "application/json")
	answer := func(code int, text string) {
		w.WriteHeader(code)
		io.WriteString(w, text)
	}
	switch r.URL.Path {
	case "/apis":
		answer(http.StatusOK, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [`+group+`]}`)
	case "/apis/" + lookedUpGroup:
		answer(http.StatusOK, group)
	case "/apis/" + lookedUpGroup + "/v1":
		answer(http.StatusOK, `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "`+lookedUpGroup+`/v1", "resources": [
			{"name": "widgets", "singularName": "widget", "kind": "Widget", "namespaced": false, "verbs": ["list", "watch"]}]}`)
	case "/apis/" + lookedUpGroup + "/v1/widgets":
		switch {
		case r.URL.Query().Has("sendInitialEvents"): // which only a list answers
			answer(http.StatusUnprocessableEntity, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422}`)
		case r.URL.Query().Has("watch"):
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			(*s.list.Load())(r.Context())
			answer(http.StatusOK, `{"kind": "WidgetList", "apiVersion": "`+lookedUpGroup+`/v1", "metadata": {"resourceVersion": "7"}, "items": [
				{"kind": "Widget", "apiVersion": "`+lookedUpGroup+`/v1", "metadata": {"name": "known", "resourceVersion": "5"}}]}`)
		}
	default:
		answer(http.StatusNotFound, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
	}
}

// While the first list of a lookup's objects takes long, the policy is not available. A server that
// starts is not ready then.
func TestLookupsThatAreKnownLate(t *testing.T) {
	const gate = "--feature-gates=AdmissionPolicyLookups=true"
	dir := t.TempDir()
	server := testserver.Start(t, dir, gate)
	client, widgets := clientsOf(server), &slowWidgets{}
	released := make(chan struct{})
	widgets.list.Store(new(func(ctx context.Context) {
		select {
		case <-released:
		case <-ctx.Done():
		}
	}))
	client.Aggregate(t, lookedUpGroup, widgets)
	policies := client.Policies.AdmissionregistrationV1()
	name := metav1.ObjectMeta{Name: "looking"}
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: name, Spec: v1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{policytest.Rule("coordination.k8s.io", "v1", "leases", v1.Create)}},
		Lookups:          []v1.Lookup{{Name: "widgets", APIVersion: lookedUpGroup + "/v1", Kind: "Widget"}},
		Validations:      []v1.Validation{{Expression: "request.namespace != 'default' || !lookups.widgets.get('known').hasValue()", Message: "the widget is known"}},
	}}
	binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: name, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name.Name, ValidationActions: []v1.ValidationAction{v1.Deny}}}
	testserver.Must(policies.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}))(t)
	testserver.Must(policies.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}))(t)
	expectAvailable := func(status metav1.ConditionStatus, reason, message string) {
		t.Helper()
		testserver.Eventually(t, func(ctx context.Context) error {
			stored, err := policies.ValidatingAdmissionPolicies().Get(ctx, name.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			available := meta.FindStatusCondition(stored.Status.Conditions, v1.PolicyConditionAvailable)
			if available == nil || available.Status != status || available.Reason != reason || available.Message != message {
				return fmt.Errorf("got condition %v, want %s %s %q", available, status, reason, message)
			}
			return nil
		})
	}
	expectAvailable(metav1.ConditionFalse, v1.PolicyReasonLookupsUnavailable, "spec.lookups[0]: the objects are not known yet")
	if _, err := client.createLease(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "failed: the objects are not known yet") {
		t.Errorf("a request gets error %v", err)
	}
	close(released)
	expectAvailable(metav1.ConditionTrue, v1.PolicyReasonConfigured, "")
	if _, err := client.createLease(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "the widget is known") {
		t.Errorf("once the objects are known, a request gets error %v", err)
	}
	server.Stop()

	port := freePort(t)
	config := server.Admin()
	config.Host = fmt.Sprintf("https://127.0.0.1:%d", port)
	client = clients{testserver.Must(testserver.NewClients(config))(t)}
	unready := make(chan struct{}, 1)
	widgets.list.Store(new(func(ctx context.Context) {
		const reason = "looked up objects of kind " + lookedUpGroup + "/v1, Kind=Widget: the objects are not known yet"
		if wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, initializer.MaxParamSync/2, true, func(context.Context) (bool, error) { return client.lacks(ctx, reason) == nil, nil }) != nil {
			return
		}
		select {
		case unready <- struct{}{}:
		default:
		}
	}))
	testserver.Start(t, dir, gate, fmt.Sprintf("--secure-port=%d", port))
	select {
	case <-unready:
	default:
		t.Error("the server is ready before the first list")
	}
	if _, err := client.createLease(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "the widget is known") {
		t.Errorf("after a restart, the first request gets error %v", err)
	}
}

// freePort returns a port at 127.0.0.1 that nobody uses.
func freePort(t *testing.T) int {
	t.Helper()
	listener := testserver.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// lacks returns nil if a server is not ready for a reason.
func (c clients) lacks(ctx context.Context, reason string) error {
	answer, err := c.Core.Discovery().RESTClient().Get().AbsPath("/readyz/policy-param-sync").DoRaw(ctx)
	if !strings.Contains(string(answer), reason) {
		return fmt.Errorf("got answer %q and error %v, want %q", answer, err, reason)
	}
	return nil
}
