// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"net/http"
	"strings"
	"testing"

	"celador.io/celador/test/integration/testserver"
)

// The status of a policy follows the registration of an aggregated server for its type and its
// removal.
func TestAggregatedTypes(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]func(group string) string{
		"matched": func(group string) string {
			return matching(group, "v1", "widgets") + `validations: [{expression: object.spec.size < 5}]`
		},
		"parameters": func(group string) string {
			return matching("apps", "v1", "deployments") + `
paramKind: {apiVersion: ` + group + `/v1, kind: Widget}
validations: [{expression: object.spec.replicas < params.spec.size}]`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := testserver.UniqueName("aggregated") + ".example.com"
			policy := write(t, spec(group))
			expect(t, policy.Name, isMissing)
			for _, size := range []string{"integer", "string"} {
				want := fits
				if size == "string" {
					want = doesNotFit
				}
				unregister := admin.Aggregate(t, group, serveWidgets(t, group, size))
				t.Cleanup(unregister)
				expect(t, policy.Name, want)
				unregister()
				expect(t, policy.Name, isMissing)
			}
		})
	}
}

// serveWidgets returns a server of group version v1 whose widgets have a size of the given type.
func serveWidgets(t *testing.T, group, size string) http.Handler {
	t.Helper()
	documents := map[string]string{
		"/apis":       `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [` + aggregatedGroup + `]}`,
		"/apis/GROUP": aggregatedGroup,
		"/apis/GROUP/v1": `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "GROUP/v1", "resources": [
			{"name": "widgets", "singularName": "widget", "kind": "Widget", "namespaced": true, "verbs": ["create", "get", "list", "watch"]}]}`,
		"/openapi/v3": `{"paths": {"apis/GROUP/v1": {"serverRelativeURL": "/openapi/v3/apis/GROUP/v1?hash=SIZE"}}}`,
		"/openapi/v3/apis/GROUP/v1": `{"openapi": "3.0.0", "info": {"title": "widgets", "version": "v1"}, "paths": {}, "components": {"schemas": {"Widget": {
			"type": "object",
			"properties": {"spec": {"type": "object", "properties": {"size": {"type": "SIZE"}}}},
			"x-kubernetes-group-version-kind": [{"group": "GROUP", "version": "v1", "kind": "Widget"}]}}}}`,
	}
	filled := strings.NewReplacer("GROUP", group, "SIZE", size)
	mux := http.NewServeMux()
	for path, document := range documents {
		mux.HandleFunc("GET "+filled.Replace(path), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if _, err := w.Write([]byte(filled.Replace(document))); err != nil {
				t.Error(err)
			}
		})
	}
	return mux
}

const aggregatedGroup = `{"kind": "APIGroup", "apiVersion": "v1", "name": "GROUP",
	"versions": [{"groupVersion": "GROUP/v1", "version": "v1"}], "preferredVersion": {"groupVersion": "GROUP/v1", "version": "v1"}}`
