// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"celador.io/celador/test/integration/testserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Warnings are headers of the response, whether the request succeeds or fails.
func TestWarningHeaders(t *testing.T) {
	t.Parallel()
	ns := admin.Namespace(t, nil)
	warning := writePolicy(t, configMaps("CREATE")+`
validations:
- {expression: int(object.data.size) <= 3, messageExpression: "object.data.size + ' is \"big\", größer als 3'"}
- {expression: int(object.data.size) <= 4, message: above 4}`)
	denying := writePolicy(t, configMaps("CREATE")+`validations: [{expression: int(object.data.size) <= 5, message: above 5}]`)
	by := denier{warning, bind(t, warning, "validationActions: [Warn]\n"+testserver.In(ns))}
	bind(t, denying, testserver.In(ns))
	settle(t)

	header := func(text string) string {
		return `299 - "Validation failed for ValidatingAdmissionPolicy '` + by.policy + `' with binding '` + by.binding + `': ` + text + `"`
	}
	for size, tc := range map[string]struct {
		code int
		want []string
	}{
		"3": {code: http.StatusCreated},
		"4": {code: http.StatusCreated, want: []string{header(`4 is \"big\", größer als 3`)}},
		"5": {code: http.StatusCreated, want: []string{header(`5 is \"big\", größer als 3`), header("above 4")}},
		"6": {code: http.StatusUnprocessableEntity, want: []string{header(`6 is \"big\", größer als 3`), header("above 4")}},
	} {
		t.Run(size, func(t *testing.T) {
			code, got, _ := post(t, ns, map[string]string{"size": size})
			if code != tc.code || !slices.Equal(got["Warning"], tc.want) {
				t.Errorf("got %d and warnings %q, want %d and %q", code, got["Warning"], tc.code, tc.want)
			}
		})
	}
}

// The reason of a validation determines the status code of the response.
func TestReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[metav1.StatusReason]int{
		"":                                       http.StatusUnprocessableEntity,
		metav1.StatusReasonInvalid:               http.StatusUnprocessableEntity,
		metav1.StatusReasonForbidden:             http.StatusForbidden,
		metav1.StatusReasonRequestEntityTooLarge: http.StatusRequestEntityTooLarge,
	} {
		t.Run(string(reason), func(t *testing.T) {
			ns, stated := admin.Namespace(t, nil), ""
			if reason == "" {
				reason = metav1.StatusReasonInvalid
			} else {
				stated = ", reason: " + string(reason)
			}
			by := enforce(t, ns, configMaps("CREATE")+`
validations:
- {expression: "object.data.size != 'big'", messageExpression: "'too ' + object.data.size", message: never`+stated+`}
- {expression: "false", message: second, reason: Forbidden}`)
			code, _, status := post(t, ns, map[string]string{"size": "big"})
			if code != want || status.Code != int32(want) || status.Reason != reason {
				t.Errorf("got %d and %d %s, want %d %s", code, status.Code, status.Reason, want, reason)
			}
			message := by.message("too big")
			if status.Message != `configmaps "raw" is forbidden: `+message || status.Details == nil ||
				!slices.Equal(status.Details.Causes, []metav1.StatusCause{{Message: message}}) {
				t.Errorf("got %+v, want %q and it as the only cause", status, message)
			}
		})
	}
}

// post creates a config map named "raw" and returns the response. status is only set if the
// request failed.
func post(t *testing.T, namespace string, data map[string]string) (code int, header http.Header, status metav1.Status) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": "raw"}, "data": data})
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(admin.Config)
	if err != nil {
		t.Fatal(err)
	}
	path := admin.Config.Host + "/api/v1/namespaces/" + namespace + "/configmaps?dryRun=All"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil && response.StatusCode >= 300 {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, status
}
