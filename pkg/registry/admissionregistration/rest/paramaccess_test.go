// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"net/http"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
)

// TestWritesThatNeedParams compares which writes both servers refuse to a user who may not read the
// params.
func TestWritesThatNeedParams(t *testing.T) {
	stock, celador, _ := bothServers(t)
	for _, kind := range []string{"Validating", "Mutating"} {
		lower := strings.ToLower(kind)
		const merge, apply = "application/merge-patch+json", "application/apply-patch+yaml"
		policies, bindings := "/apis/"+v1.GroupName+"/v1/"+lower+"admissionpolicies", "/apis/"+v1.GroupName+"/v1/"+lower+"admissionpolicybindings"
		policy := func(name, paramKind string) []byte {
			text := strings.Replace(validObjects[lower+"admissionpolicies"], "spec:", "spec:\n  paramKind: {apiVersion: v1, kind: "+paramKind+"}", 1)
			return []byte("apiVersion: " + v1.GroupName + "/v1" + strings.Replace(text, "demo", name, 1))
		}
		binding := func(name, fields string) []byte {
			if kind == "Validating" {
				fields += ", validationActions: [Deny]"
			}
			return []byte("apiVersion: " + v1.GroupName + "/v1\nkind: " + kind + "AdmissionPolicyBinding\nmetadata: {name: " + name + "}\nspec: {policyName: demo, " + fields + "}")
		}
		const hidden, selected = "paramRef: {name: hidden, parameterNotFoundAction: Deny}", "paramRef: {selector: {}, parameterNotFoundAction: Deny}"
		for _, stored := range []call{
			{"POST", policies, "application/yaml", policy("demo", "ConfigMap")},
			{"POST", bindings, "application/yaml", binding("hidden", hidden)},
			{"POST", bindings, "application/yaml", binding("selected", selected)},
			{"POST", bindings, "application/yaml", binding("readable", strings.Replace(hidden, "hidden", "readable", 1))},
			{"POST", bindings, "application/yaml", binding("none", "matchResources: {}")},
		} {
			for _, host := range []string{stock, celador} {
				if got := send(t, host, stored, root); got.Code != http.StatusCreated {
					t.Fatalf("%s: %v", stored.body, got)
				}
			}
		}
		const dryRun = "?dryRun=All"
		for name, tc := range map[string]struct {
			call
			want int // Celador's status code; 0 means Kubernetes'
		}{
			"create a policy":                        {call{"POST", policies, "application/yaml", policy("new", "ConfigMap")}, 0},
			"create a policy of unknown params":      {call{"POST", policies, "application/yaml", policy("new", "Unheard")}, 0},
			"policy, paramKind":                      {call{"PATCH", policies + "/demo", merge, []byte(`{"spec": {"paramKind": {"kind": "Secret"}}}`)}, 0},
			"policy, no paramKind":                   {call{"PATCH", policies + "/demo", merge, []byte(`{"spec": {"paramKind": null}}`)}, 0},
			"policy, something else":                 {call{"PATCH", policies + "/demo", merge, []byte(`{"spec": {"failurePolicy": "Ignore"}}`)}, 0},
			"create a binding":                       {call{"POST", bindings, "application/yaml", binding("new", hidden)}, 0},
			"create a binding by selector":           {call{"POST", bindings, "application/yaml", binding("new", selected)}, 0},
			"create a binding by applying it":        {call{"PATCH", bindings + "/new", apply, binding("new", hidden)}, 0},
			"binding, matchResources":                {call{"PATCH", bindings + "/hidden", merge, []byte(`{"spec": {"matchResources": {"matchPolicy": "Exact"}}}`)}, 0},
			"binding, matchResources applied":        {call{"PATCH", bindings + "/hidden", apply, binding("hidden", "matchResources: {matchPolicy: Exact}, "+hidden)}, 0},
			"binding by selector, matchResources":    {call{"PATCH", bindings + "/selected", merge, []byte(`{"spec": {"matchResources": {"matchPolicy": "Exact"}}}`)}, 0},
			"binding, policyName":                    {call{"PATCH", bindings + "/hidden", merge, []byte(`{"spec": {"policyName": "other"}}`)}, 0},
			"binding, parameterNotFoundAction":       {call{"PATCH", bindings + "/hidden", merge, []byte(`{"spec": {"paramRef": {"parameterNotFoundAction": "Allow"}}}`)}, 0},
			"binding, no paramRef":                   {call{"PATCH", bindings + "/hidden", merge, []byte(`{"spec": {"paramRef": null}}`)}, 0},
			"readable binding, matchResources":       {call{"PATCH", bindings + "/readable", merge, []byte(`{"spec": {"matchResources": {"matchPolicy": "Exact"}}}`)}, 0},
			"readable binding, other param":          {call{"PATCH", bindings + "/readable", merge, []byte(`{"spec": {"paramRef": {"name": "hidden"}}}`)}, 0},
			"binding without params, matchResources": {call{"PATCH", bindings + "/none", merge, []byte(`{"spec": {"matchResources": {"matchPolicy": "Exact"}}}`)}, 0},
			// Kubernetes compares the pointers in paramRefs instead of their values, and takes each
			// update for a change of the paramRef.
			"binding, labels":  {call{"PATCH", bindings + "/hidden", merge, []byte(`{"metadata": {"labels": {"team": "blue"}}}`)}, http.StatusOK},
			"binding, nothing": {call{"PATCH", bindings + "/hidden", merge, []byte(`{}`)}, http.StatusOK},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				tc.path += dryRun
				if tc.mediaType == apply {
					tc.path += "&fieldManager=test&force=true"
				}
				theirs, ours := send(t, stock, tc.call, alice), send(t, celador, tc.call, alice)
				switch {
				case tc.want != 0 && (ours.Code != tc.want || theirs.Code == tc.want):
					t.Errorf("got %v, want %d; Kubernetes: %v", ours, tc.want, theirs)
				case tc.want == 0 && ours.Code != theirs.Code:
					t.Errorf("got %v, Kubernetes: %v", ours, theirs)
				}
			})
		}
	}
}
