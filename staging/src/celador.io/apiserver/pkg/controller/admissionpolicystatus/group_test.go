// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"celador.io/admission/cel/expression"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus/servedtypes"
	"celador.io/client-go/clientset"
	"celador.io/client-go/clientset/fake"
	clientscheme "celador.io/client-go/clientset/scheme"
	typed "celador.io/client-go/clientset/typed/admissionregistration/v1"
	"celador.io/client-go/informers"
)

// groupClient is a clientset whose policies are those of another group.
type groupClient struct {
	clientset.Interface
	policies typed.AdmissionregistrationV1Interface
}

func (c groupClient) AdmissionregistrationV1() typed.AdmissionregistrationV1Interface {
	return c.policies
}

// Policies can be custom resources of another group, with the Go types of Kubernetes'. An API
// server refuses an apply configuration of a group that is not the one of its URL.
func TestPoliciesOfAnotherGroup(t *testing.T) {
	group := schema.GroupVersion{Group: "policy.example.com", Version: "v1"}
	type request struct {
		contentType, url string
		body             []byte
	}
	applied := make(chan request, 1)
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPatch:
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			once.Do(func() { applied <- request{r.Header.Get("Content-Type"), r.URL.String(), body} })
			_, _ = w.Write(body)
		case r.URL.Query().Has("sendInitialEvents"):
			w.WriteHeader(http.StatusUnprocessableEntity) // an informer then lists
		case r.URL.Query().Has("watch"):
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			p := policy(t, onGadgets, "{}")
			p.APIVersion, p.Kind = group.String(), "ValidatingAdmissionPolicy"
			list := map[string]any{"apiVersion": group.String(), "kind": "ValidatingAdmissionPolicyList", "metadata": metav1.ListMeta{ResourceVersion: "7"}, "items": []any{p}}
			if err := json.NewEncoder(w).Encode(list); err != nil {
				t.Error(err)
			}
		}
	}))
	t.Cleanup(server.Close) // after the context of the test, with which watches end

	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(group, &v1.ValidatingAdmissionPolicy{}, &v1.ValidatingAdmissionPolicyList{})
	metav1.AddToGroupVersion(scheme, group)
	metav1.AddToGroupVersion(clientscheme.Scheme, group) // which encodes the options of requests
	config := &rest.Config{Host: server.URL, APIPath: "/apis", ContentConfig: rest.ContentConfig{
		GroupVersion: &group, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(), ContentType: runtime.ContentTypeJSON,
	}}
	policies, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client := groupClient{fake.NewClientset(), typed.New(policies)}
	kube, factory := kubefake.NewClientset(), informers.NewSharedInformerFactory(client, 0)
	controller, err := admissionpolicystatus.New(admissionpolicystatus.Config{
		Kinds:        []*admissionpolicystatus.Descriptor{admissionpolicystatus.Validating(client, factory, expression.Default(), nil)},
		GroupVersion: group,
		Events:       kube.EventsV1(),
		Types: servedtypes.Config{
			Discovery:  kube.Discovery(),
			BuiltIn:    func(schema.GroupVersion) bool { return false },
			Aggregated: func(schema.GroupVersion) bool { return false },
		},
		Checker: checker(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	factory.StartWithContext(t.Context())
	go controller.WriteStatus(t.Context())
	go controller.Run(t.Context())

	var got request
	select {
	case got = <-applied:
	case <-time.After(time.Minute):
		t.Fatal("no status is written")
	}
	if want := "/apis/policy.example.com/v1/validatingadmissionpolicies/p/status?"; !strings.HasPrefix(got.url, want) || got.contentType != "application/apply-patch+yaml" {
		t.Errorf("the status is written by a %s to %s, want an apply configuration to %s", got.contentType, got.url, want)
	}
	var status patch
	if err := json.Unmarshal(got.body, &status); err != nil {
		t.Fatal(err)
	}
	if status.APIVersion != group.String() || status.Kind != "ValidatingAdmissionPolicy" || len(status.Status.Conditions) != 2 {
		t.Errorf("wrote %s, want conditions of a policy of %s", got.body, group)
	}
	// The schema of a custom resource has no place for null.
	if strings.Contains(string(got.body), "null") {
		t.Errorf("wrote %s", got.body)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		events, err := kube.EventsV1().Events("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(events.Items) > 0 {
			if got := fmt.Sprint(events.Items[0].Regarding.APIVersion, " ", events.Items[0].Regarding.Kind); got != group.String()+" ValidatingAdmissionPolicy" {
				t.Errorf("an event regards %s", got)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no event is recorded")
		}
		time.Sleep(time.Millisecond)
	}
}
