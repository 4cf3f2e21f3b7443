// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"celador.io/apiextensions-apiserver/pkg/features"
)

// ruled has an integer spec.seconds in v1, and a string spec.timeout in v2.
const (
	ruled = `{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "timers.skew.example.com"},
  "spec": {
    "group": "skew.example.com", "scope": "Namespaced", "names": {"kind": "Timer", "plural": "timers"},
    "versions": [
      {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"seconds": {"type": "integer"}}}}}}},
      {"name": "v2", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"timeout": {"type": "string"}}}}}}}
    ],
    "conversion": {"strategy": "ConversionRules", "converters": [
      {"fromVersion": "v1", "toVersion": "v2", "rules": [{"field": "spec.timeout", "rule": "string(self.spec.seconds) + 's'"}]},
      {"fromVersion": "v2", "toVersion": "v1", "rules": [{"field": "spec.seconds", "rule": "duration(self.spec.timeout).getSeconds()"}]}
    ]}
  }
}`
	ruledPath = definitionsPath + "/timers.skew.example.com"
	timerV1   = `{"apiVersion": "skew.example.com/v1", "kind": "Timer", "metadata": {"name": "NAME"}, "spec": {"seconds": 30}}`
	timerV2   = `{"apiVersion": "skew.example.com/v2", "kind": "Timer", "metadata": {"name": "NAME"}, "spec": {"timeout": "30s"}}`
	gateIsOff = "feature gate CustomResourceConversionRules is off"
)

func timers(version string) string {
	return "/apis/skew.example.com/" + version + "/namespaces/default/timers"
}

// call sends a request and returns the status and body of the response.
func call(t *testing.T, to *server, method, path, contentType, body string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, to.url+path, bytes.NewReader([]byte(body)))
	must(t, err)
	request.Header.Set("Content-Type", contentType)
	response, err := to.client.Do(request)
	must(t, err)
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(got)
}

// expectCall sends a request with a JSON body. It expects a status, and texts in the body.
func expectCall(t *testing.T, to *server, method, path, body string, status int, texts ...string) {
	t.Helper()
	contentType := "application/json"
	if method == http.MethodPatch {
		contentType = "application/merge-patch+json"
	}
	got, answer := call(t, to, method, path, contentType, body)
	if got != status {
		t.Errorf("%s %s: got status %d and body %s, want %d", method, path, got, answer, status)
	}
	for _, text := range texts {
		if !strings.Contains(answer, text) {
			t.Errorf("%s %s: got body %s, want %q in it", method, path, answer, text)
		}
	}
}

// setRules turns the gate of conversion rules on or off. Servers read it when they write a
// CustomResourceDefinition, and when they serve a generation of it for the first time.
func setRules(t *testing.T, on bool) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, on)
}

// startRuled starts a server of Celador with the gate on, which serves the timers "first", written
// in v1, and "second", written in v2.
func startRuled(t *testing.T, endpoint string) *server {
	t.Helper()
	setRules(t, true)
	ours := start(t, celadorSide, endpoint, "/shared")
	expectCall(t, ours, http.MethodPost, definitionsPath, ruled, http.StatusCreated)
	awaitTimers(t, ours)
	expectCall(t, ours, http.MethodPost, timers("v1"), strings.Replace(timerV1, "NAME", "first", 1), http.StatusCreated)
	expectCall(t, ours, http.MethodPost, timers("v2"), strings.Replace(timerV2, "NAME", "second", 1), http.StatusCreated)
	return ours
}

// awaitTimers waits until a server knows the CustomResourceDefinition and its watch cache holds the
// timers.
func awaitTimers(t *testing.T, of *server) {
	t.Helper()
	eventually(t, of.name+" serves timers", func() bool {
		status, _ := call(t, of, http.MethodGet, timers("v1"), "", "")
		return status != http.StatusNotFound && status != http.StatusTooManyRequests
	})
}

// expectStoredTimers expects the keys of timers in etcd, each stored in v1.
func expectStoredTimers(t *testing.T, store *clientv3.Client, names ...string) {
	t.Helper()
	found, err := store.Get(t.Context(), "/shared/skew.example.com/timers/", clientv3.WithPrefix())
	must(t, err)
	var got []string
	for _, kv := range found.Kvs {
		got = append(got, string(kv.Key[strings.LastIndexByte(string(kv.Key), '/')+1:]))
		if !bytes.Contains(kv.Value, []byte(`"apiVersion":"skew.example.com/v1"`)) || !bytes.Contains(kv.Value, []byte(`"spec":{"seconds":30}`)) {
			t.Errorf("got %s in etcd, want an object in v1", kv.Value)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("got timers %v in etcd, want %v", got, names)
	}
}

// TestServersOfDifferentGates runs a second server with the gate off, as in a rolling restart or
// after a rollback. It serves objects in the version in which they are stored, and writes nothing
// else.
func TestServersOfDifferentGates(t *testing.T) {
	etcd, store := startEtcd(t)
	on := startRuled(t, etcd.URL())
	setRules(t, false)
	off := start(t, celadorSide, etcd.URL(), "/shared")
	awaitTimers(t, off)

	for _, name := range []string{"first", "second"} {
		expectCall(t, off, http.MethodGet, timers("v1")+"/"+name, "", http.StatusOK, `"spec":{"seconds":30}`)
		expectCall(t, off, http.MethodGet, timers("v2")+"/"+name, "", http.StatusInternalServerError, name, "from v1 to v2", gateIsOff)
		expectCall(t, on, http.MethodGet, timers("v2")+"/"+name, "", http.StatusOK, `"spec":{"timeout":"30s"}`)
	}
	expectCall(t, off, http.MethodGet, timers("v1"), "", http.StatusOK, "first", "second")
	expectCall(t, off, http.MethodGet, timers("v2"), "", http.StatusInternalServerError, "StorageReadError", gateIsOff)
	expectCall(t, off, http.MethodGet, timers("v2")+"?limit=1", "", http.StatusInternalServerError, gateIsOff)
	expectCall(t, off, http.MethodPost, timers("v2"), strings.Replace(timerV2, "NAME", "third", 1), http.StatusInternalServerError, "from v2 to v1", gateIsOff)
	expectCall(t, off, http.MethodPatch, timers("v2")+"/first", `{"spec":{"timeout":"31s"}}`, http.StatusInternalServerError, gateIsOff)
	expectStoredTimers(t, store, "first", "second")
	expectCall(t, off, http.MethodPost, timers("v1"), strings.Replace(timerV1, "NAME", "third", 1), http.StatusCreated)
	expectCall(t, on, http.MethodGet, timers("v2")+"/third", "", http.StatusOK, `"spec":{"timeout":"30s"}`)
	// Deleting an object needs no conversion.
	expectCall(t, off, http.MethodDelete, timers("v2")+"/third", "", http.StatusOK)
	expectStoredTimers(t, store, "first", "second")

	// The fields are in use, so they stay, and may change.
	expectCall(t, off, http.MethodPatch, ruledPath, `{"metadata":{"labels":{"a":"b"}}}`, http.StatusOK, `"converters":[`, `"ConversionRules"`)
	expectCall(t, off, http.MethodPatch, ruledPath+"/status", `{"metadata":{"annotations":{"a":"b"}}}`, http.StatusOK, `"converters":[`)
	expectCall(t, on, http.MethodGet, timers("v2")+"/first", "", http.StatusOK, `"spec":{"timeout":"30s"}`)

	// Deleting the CustomResourceDefinition needs no conversion.
	expectCall(t, off, http.MethodDelete, ruledPath, "", http.StatusOK)
	eventually(t, "the CustomResourceDefinition is deleted", func() bool {
		status, _ := call(t, off, http.MethodGet, ruledPath, "", "")
		return status == http.StatusNotFound
	})
	expectStoredTimers(t, store)
}

// TestStockServer runs Kubernetes' server on the etcd of a CustomResourceDefinition with conversion
// rules. It serves no object of it, and its writes drop the converters, after which Celador does
// not convert either.
func TestStockServer(t *testing.T) {
	etcd, store := startEtcd(t)
	ours := startRuled(t, etcd.URL())
	theirs := start(t, upstreamSide, etcd.URL(), "/shared")
	awaitTimers(t, theirs)

	status, read := call(t, theirs, http.MethodGet, ruledPath, "", "")
	if status != http.StatusOK || !strings.Contains(read, `"strategy":"ConversionRules"`) || strings.Contains(read, `"converters":[`) {
		t.Errorf("got status %d and %s, want the strategy without converters", status, read)
	}
	for _, path := range []string{timers("v1"), timers("v2"), timers("v1") + "/first"} {
		expectCall(t, theirs, http.MethodGet, path, "", http.StatusInternalServerError, "error resolving resource")
	}
	expectCall(t, theirs, http.MethodPost, timers("v1"), strings.Replace(timerV1, "NAME", "third", 1), http.StatusInternalServerError)
	expectCall(t, theirs, http.MethodPatch, ruledPath, `{"metadata":{"labels":{"a":"b"}}}`, http.StatusUnprocessableEntity, `Unsupported value: \"ConversionRules\"`)
	expectCall(t, ours, http.MethodGet, timers("v2")+"/first", "", http.StatusOK, `"spec":{"timeout":"30s"}`)

	// A write of the status is not validated, so it stores what Kubernetes' type has.
	expectCall(t, theirs, http.MethodPatch, ruledPath+"/status", `{"status":{"storedVersions":["v1","v2"]}}`, http.StatusOK)
	eventually(t, "the converters are lost", func() bool {
		_, read := call(t, ours, http.MethodGet, ruledPath, "", "")
		return !strings.Contains(read, `"converters":[`)
	})
	expectStoredTimers(t, store, "first", "second")
	expectCall(t, ours, http.MethodGet, timers("v1")+"/first", "", http.StatusOK, `"spec":{"seconds":30}`)
	eventually(t, "objects are not converted without converters", func() bool {
		status, answer := call(t, ours, http.MethodGet, timers("v2")+"/first", "", "")
		return status == http.StatusInternalServerError && strings.Contains(answer, "from v1 to v2")
	})

	// Applying the manifest again brings them back.
	_, conversion, _ := strings.Cut(ruled, `"conversion": `)
	conversion = conversion[:strings.LastIndex(conversion, "}\n}")]
	expectCall(t, ours, http.MethodPatch, ruledPath, `{"spec":{"conversion":`+conversion+`}}`, http.StatusOK, `"converters":[`)
	eventually(t, "objects are converted again", func() bool {
		status, answer := call(t, ours, http.MethodGet, timers("v2")+"/first", "", "")
		return status == http.StatusOK && strings.Contains(answer, `"spec":{"timeout":"30s"}`)
	})
}
