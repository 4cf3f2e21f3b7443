// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"celador.io/offline/live"
)

// responses are the bodies of a server's answers by the request's path and query.
type responses map[string]string

func (r responses) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := request.URL.Query()
	query.Del("timeout")
	body, ok := r[strings.TrimSuffix(request.URL.Path+"?"+query.Encode(), "?")]
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
		body = status(http.StatusNotFound, "NotFound", "")
	case body == expired:
		w.WriteHeader(http.StatusGone)
	case body == forbidden:
		w.WriteHeader(http.StatusForbidden)
	}
	fmt.Fprint(w, body)
}

func status(code int, reason, token string) string {
	return fmt.Sprintf(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q, "metadata": {"continue": %q}}`, code, reason, token)
}

var (
	expired   = status(http.StatusGone, "Expired", "newer")
	forbidden = status(http.StatusForbidden, "Forbidden", "")
)

func configMaps(token string, names ...string) string {
	items := ""
	for i, name := range names {
		if i > 0 {
			items += ","
		}
		items += fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": %q, "namespace": "shop"}}`, name)
	}
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"continue": %q}, "items": [%s]}`, token, items)
}

const discovered = `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [
	{"name": "secrets", "kind": "Secret", "namespaced": true, "verbs": ["create", "list"]},
	{"name": "configmaps", "kind": "ConfigMap", "namespaced": true, "verbs": ["create", "list"]},
	{"name": "nodes", "kind": "Node", "namespaced": false, "verbs": ["create", "list"]},
	{"name": "componentstatuses", "kind": "ComponentStatus", "namespaced": false, "verbs": ["list"]},
	{"name": "pods/eviction", "kind": "Eviction", "namespaced": true, "verbs": ["create"]}]}`

func newClient(t *testing.T, r responses) *live.Client {
	t.Helper()
	r["/api"] = `{"kind": "APIVersions", "versions": ["v1"]}`
	r["/apis"] = `{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`
	r["/api/v1"] = discovered
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	c, err := live.New(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// read returns the names of the selected objects and the texts of errors.
func read(t *testing.T, c *live.Client, filter live.Filter) (found []string) {
	t.Helper()
	for object, err := range c.Objects(t.Context(), filter) {
		var unreadable *live.ResourceError
		switch {
		case errors.As(err, &unreadable):
			found = append(found, unreadable.Resource.Resource+" unreadable")
		case err != nil:
			t.Fatal(err)
		default:
			found = append(found, object.GetName())
		}
	}
	return found
}

func TestObjects(t *testing.T) {
	everything := func(schema.GroupResource) bool { return true }
	for _, test := range []struct {
		name      string
		responses responses
		filter    live.Filter
		want      []string
	}{
		{
			"pages", responses{
				"/api/v1/configmaps?limit=500":                 configMaps("second", "a", "b"),
				"/api/v1/configmaps?continue=second&limit=500": configMaps("", "c"),
			},
			live.Filter{Resource: func(r schema.GroupResource) bool { return r.Resource == "configmaps" }}, []string{"a", "b", "c"},
		},
		{
			"an expired token", responses{
				"/api/v1/configmaps?limit=500":                 configMaps("second", "a"),
				"/api/v1/configmaps?continue=second&limit=500": expired,
				"/api/v1/configmaps?continue=newer&limit=500":  configMaps("", "b"),
			},
			live.Filter{Resource: func(r schema.GroupResource) bool { return r.Resource == "configmaps" }}, []string{"a", "b"},
		},
		{
			"a token that expires again", responses{
				"/api/v1/configmaps?limit=500":                 configMaps("second", "a"),
				"/api/v1/configmaps?continue=second&limit=500": expired,
				"/api/v1/configmaps?continue=newer&limit=500":  expired,
			},
			live.Filter{Resource: func(r schema.GroupResource) bool { return r.Resource == "configmaps" }}, []string{"a", "configmaps unreadable"},
		},
		{
			"others are readable", responses{
				"/api/v1/configmaps?limit=500": configMaps("", "a"),
				"/api/v1/nodes?limit=500":      configMaps(""),
				"/api/v1/secrets?limit=500":    forbidden,
			},
			live.Filter{Resource: everything}, []string{"a", "secrets unreadable"},
		},
		{
			"a namespace", responses{
				"/api/v1/namespaces/shop/configmaps?labelSelector=app%3Dweb&limit=500": configMaps("", "a"),
				"/api/v1/namespaces/shop/secrets?labelSelector=app%3Dweb&limit=500":    configMaps(""),
			},
			live.Filter{Resource: everything, Namespace: "shop", Labels: "app=web"}, []string{"a"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := read(t, newClient(t, test.responses), test.filter); !slices.Equal(got, test.want) {
				t.Errorf("objects %q, want %q", got, test.want)
			}
		})
	}
}

func TestLookedUp(t *testing.T) {
	client := newClient(t, responses{"/api/v1/configmaps?limit=500": configMaps("", "a", "b"), "/api/v1/secrets?limit=500": forbidden})
	version := schema.GroupVersion{Version: "v1"}
	configMap, secret, pod := version.WithKind("ConfigMap"), version.WithKind("Secret"), version.WithKind("Pod")
	objects, failed := client.LookedUp(t.Context(), secret, configMap, pod)
	if len(objects) != 2 || objects[1].GetName() != "b" {
		t.Errorf("objects %v, want a and b", objects)
	}
	if err := failed[secret]; len(failed) != 2 || !apierrors.IsForbidden(err) || !strings.HasPrefix(err.Error(), "secrets: ") {
		t.Errorf("errors %v", failed)
	}
	if err := failed[pod]; err == nil || err.Error() != "the cluster does not serve kind Pod of v1" {
		t.Errorf("error of pods: %v", err)
	}
}

func TestCount(t *testing.T) {
	remaining := func(n string) string {
		return strings.Replace(configMaps("second", "a"), `"continue"`, `"remainingItemCount": `+n+`, "continue"`, 1)
	}
	for name, test := range map[string]struct {
		responses responses
		want      int
	}{
		"one page":         {responses{"/api/v1/configmaps?limit=1": configMaps("", "a")}, 1},
		"more pages":       {responses{"/api/v1/configmaps?limit=1": remaining("41"), "/api/v1/secrets?limit=1": configMaps("", "b")}, 43},
		"not told":         {responses{"/api/v1/configmaps?limit=1": configMaps("second", "a"), "/api/v1/secrets?limit=1": configMaps("", "b")}, 0},
		"one not readable": {responses{"/api/v1/configmaps?limit=1": remaining("1"), "/api/v1/secrets?limit=1": forbidden}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, test.responses)
			if got := c.Count(t.Context(), live.Filter{Resource: func(schema.GroupResource) bool { return true }}); got != test.want {
				t.Errorf("%d objects, want %d", got, test.want)
			}
		})
	}
}

func TestParams(t *testing.T) {
	c := newClient(t, responses{"/api/v1/configmaps?limit=500": configMaps("", "a")})
	for kind, want := range map[schema.GroupVersionKind]int{
		{Version: "v1", Kind: "ConfigMap"}:                           1,
		{Version: "v1", Kind: "None"}:                                0,
		{Group: "example.com", Version: "v1", Kind: "NoSuchVersion"}: 0,
	} {
		if params, err := c.Params(t.Context(), kind); err != nil || len(params) != want {
			t.Errorf("%s: %d params, error %v, want %d", kind, len(params), err, want)
		}
	}
}

// policyList is a list of policies or bindings, each with its name as an expression.
func policyList(apiVersion, kind string, expressions map[string]string) string {
	var items []string
	for name, expression := range expressions {
		items = append(items, fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"name": %q}, "spec": {"validations": [{"expression": %q}]}}`, apiVersion, kind, name, expression))
	}
	return fmt.Sprintf(`{"apiVersion": %q, "kind": "%sList", "metadata": {}, "items": [%s]}`, apiVersion, kind, strings.Join(items, ","))
}

// Policies of the polyfill are read as native ones, if the cluster has their kinds.
func TestPolicies(t *testing.T) {
	const native, polyfill = "admissionregistration.k8s.io/v1", "policy.celador.io/v1"
	const policies, bindings = "validatingadmissionpolicies", "validatingadmissionpolicybindings"
	served := `{"kind": "APIResourceList", "groupVersion": "policy.celador.io/v1", "resources": [
		{"name": "validatingadmissionpolicies", "kind": "ValidatingAdmissionPolicy", "verbs": ["create", "list"]},
		{"name": "validatingadmissionpolicybindings", "kind": "ValidatingAdmissionPolicyBinding", "verbs": ["create", "list"]}]}`
	for name, test := range map[string]struct {
		served           bool
		native, polyfill map[string]string // expressions by the names of policies
		want             []string
		wantErr          string
	}{
		"no polyfill":   {native: map[string]string{"a": "1"}, polyfill: map[string]string{"b": "2"}, want: []string{"a", "native-binding"}},
		"both":          {served: true, native: map[string]string{"a": "1"}, polyfill: map[string]string{"b": "2"}, want: []string{"a", "b", "native-binding", "polyfill-binding"}},
		"the same":      {served: true, native: map[string]string{"a": "1"}, polyfill: map[string]string{"a": "1"}, want: []string{"a", "native-binding", "polyfill-binding"}},
		"only polyfill": {served: true, polyfill: map[string]string{"b": "2"}, want: []string{"b", "native-binding", "polyfill-binding"}},
		"others of the same name": {
			served: true, native: map[string]string{"a": "1"}, polyfill: map[string]string{"a": "2"},
			wantErr: "ValidatingAdmissionPolicy a is in admissionregistration.k8s.io and in policy.celador.io, with different specs: audit the policies of one group with --filename",
		},
	} {
		r := responses{
			"/apis/" + native + "/" + policies + "?limit=500":   policyList(native, "ValidatingAdmissionPolicy", test.native),
			"/apis/" + native + "/" + bindings + "?limit=500":   policyList(native, "ValidatingAdmissionPolicyBinding", map[string]string{"native-binding": ""}),
			"/apis/" + polyfill + "/" + policies + "?limit=500": policyList(polyfill, "ValidatingAdmissionPolicy", test.polyfill),
			"/apis/" + polyfill + "/" + bindings + "?limit=500": policyList(polyfill, "ValidatingAdmissionPolicyBinding", map[string]string{"polyfill-binding": ""}),
		}
		if test.served {
			r["/apis/"+polyfill] = served
		}
		found, err := newClient(t, r).Policies(t.Context())
		if text := fmt.Sprint(err); err != nil && text != test.wantErr || err == nil && test.wantErr != "" {
			t.Errorf("%s: error %v, want %q", name, err, test.wantErr)
		}
		var got []string
		for _, object := range found {
			got = append(got, object.GetName())
			if object.GetAPIVersion() != native {
				t.Errorf("%s: %s has apiVersion %s", name, object.GetName(), object.GetAPIVersion())
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: policies and bindings %q, want %q", name, got, test.want)
		}
	}
}
