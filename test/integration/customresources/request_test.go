// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"celador.io/celador/test/integration/testserver"
)

// Requests that depend on the scope, the versions and the subresources of a definition.
func TestRequests(t *testing.T) {
	t.Parallel()
	group := uniqueGroup("requests")
	define(t, widgets(t, group, "Namespaced", list(
		"{name: v1beta1, served: true, storage: false, deprecated: true}",
		"{name: v1beta2, served: true, storage: false, deprecated: true, deprecationWarning: leave v1beta2}",
		"{name: v1, served: true, storage: true, subresources: {status: {}}}",
		"{name: v2, served: false, storage: false}",
		"{name: v3alpha1, served: true, storage: false, deprecated: true}",
	)))
	testserver.Must(in(admin, group, "v1").Create(t.Context(), widget(group, "v1", "a"), metav1.CreateOptions{}))(t)
	cluster := uniqueGroup("cluster")
	define(t, widgets(t, cluster, "Cluster", "{name: v1, served: true, storage: true}"))
	unnamespaced := widget(cluster, "v1", "a")
	unnamespaced.SetNamespace("")
	testserver.Must(admin.Objects.Resource(resource(cluster, "v1")).Create(t.Context(), unnamespaced, metav1.CreateOptions{}))(t)

	deprecated := `299 - "` + group + `/v1beta1 Widget is deprecated; use ` + group + `/v1 Widget"`
	const (
		all      = "/widgets"
		objects  = "/namespaces/default/widgets"
		object   = objects + "/a"
		unserved = "404 page not found"
	)
	missing := `widgets.` + group + ` \"a\" not found`
	tests := []struct {
		method, path, body string
		code               int
		warning            string
		// answer is a part of the body.
		answer string
	}{
		{"GET", group + "/v1" + objects, "", 200, "", `"kind":"WidgetList"`},
		{"GET", group + "/v1" + object, "", 200, "", `"name":"a"`},
		{"GET", group + "/v1" + all, "", 200, "", `"name":"a"`},
		{"GET", group + "/v1" + object + "/status", "", 200, "", `"name":"a"`},

		{"GET", group + "/v1beta1" + object, "", 200, deprecated, `"name":"a"`},
		{"GET", group + "/v1beta1" + objects, "", 200, deprecated, `"name":"a"`},
		{"GET", group + "/v1beta1" + objects + "/missing", "", 404, deprecated, "not found"},
		{"DELETE", group + "/v1beta1" + objects + "/missing", "", 404, deprecated, "not found"},
		{"GET", group + "/v1beta2" + object, "", 200, `299 - "leave v1beta2"`, `"name":"a"`},
		// An alpha version is older than every stable version, whatever its number.
		{"GET", group + "/v3alpha1" + object, "", 200, `299 - "` + group + `/v3alpha1 Widget is deprecated; use ` + group + `/v1 Widget"`, `"name":"a"`},

		{"GET", group + "/v2" + objects, "", 404, "", unserved},
		{"POST", group + "/v2" + objects, "{}", 404, "", unserved},
		{"GET", group + "/v4" + objects, "", 404, "", unserved},
		{"GET", group + "/v1/namespaces/default/gadgets", "", 404, "", unserved},

		{"GET", group + "/v1" + all + "/a", "", 404, "", unserved},
		{"POST", group + "/v1" + all, "{}", 404, "", unserved},
		{"DELETE", group + "/v1" + all, "", 404, "", unserved},
		{"GET", cluster + "/v1" + all + "/a", "", 200, "", `"name":"a"`},
		{"GET", cluster + "/v1" + object, "", 404, "", unserved},
		{"GET", cluster + "/v1" + objects, "", 404, "", unserved},
		{"POST", cluster + "/v1" + objects, "{}", 404, "", unserved},

		{"GET", group + "/v1" + object + "/unknown", "", 404, "", missing},
		{"GET", group + "/v1" + object + "/scale", "", 404, "", missing},
		{"GET", group + "/v1beta1" + object + "/status", "", 404, deprecated, missing},
		{"POST", group + "/v1" + object + "/status", "{}", 405, "", "create is not supported on resources of kind"},
		{"DELETE", group + "/v1" + object + "/status", "", 405, "", "delete is not supported on resources of kind"},
	}
	client := testserver.Must(rest.HTTPClientFor(admin.Config))(t)
	for _, test := range tests {
		t.Run(fmt.Sprint(test.method, " ", test.path), func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), test.method, admin.Config.Host+"/apis/"+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != test.code || !strings.Contains(string(body), test.answer) {
				t.Errorf("got status %d and body %s, want %d and %q", response.StatusCode, body, test.code, test.answer)
			}
			if got := strings.Join(response.Header.Values("Warning"), ", "); got != test.warning {
				t.Errorf("got warning %q, want %q", got, test.warning)
			}
		})
	}
}
