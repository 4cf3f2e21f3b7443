// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/playground"
)

// TestPlayground runs the command with the files of an example, and evaluates them.
func TestPlayground(t *testing.T) {
	server := start(t, celador(t, "", "playground", "--port", "0", "../../examples/replica-limit"), "http://127.0.0.1:")
	url, found := strings.CutSuffix(server.lines.Text(), " until Ctrl-C")
	if !found {
		t.Fatalf("shows %q", url)
	}
	var examples []playground.Example
	answer(t, get(t, url+"api/examples"), &examples)
	if len(examples) < 2 || examples[0].Name != "files" || examples[1].Name != "replica-limit" {
		t.Fatalf("examples %+v", examples)
	}
	input, err := json.Marshal(examples[0].PageState)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(url+"api/evaluate", "application/json", bytes.NewReader(input))
	if err != nil {
		t.Fatal(err)
	}
	got := playground.Answer{}
	if answer(t, response, &got); got.Decision != "Allowed" || len(got.Problems) > 0 || len(got.Expressions) != 1 || got.Expressions[0].Evaluations[0].Cost == 0 {
		t.Errorf("answer %+v", got)
	}
	page := get(t, url)
	if page.Body.Close(); page.StatusCode != http.StatusOK {
		t.Errorf("page: %s", page.Status)
	}
	server.signal(t, os.Interrupt)
	if code := server.wait(t); code != 0 || server.stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", code, &server.stderr)
	}
}

// TestPlaygroundManyPolicies evaluates more policies than a page can show.
func TestPlaygroundManyPolicies(t *testing.T) {
	handler, err := newPlayground("127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	const shown, more = 500, 30
	var policies, bindings []string
	for i := range shown + more {
		name := fmt.Sprintf("%d.example.com", i)
		policy := strings.NewReplacer("owner.example.com", name, "has(object.metadata.labels)", "object.absent").Replace(typedPolicy)
		policies, bindings = append(policies, policy), append(bindings, strings.ReplaceAll(typedBinding, "owner.example.com", name))
	}
	input, err := json.Marshal(playground.PageState{Panes: playground.Panes{
		Policy: strings.Join(policies, "---\n"), Binding: strings.Join(bindings, "---\n"), Object: typedObject,
	}})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:1/api/evaluate", bytes.NewReader(input))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	got := playground.Answer{}
	answer(t, recorder.Result(), &got)
	if got.Decision != "Error" || len(got.Policies) != shown || len(got.Expressions) != shown || len(got.TypeWarnings) != shown {
		t.Fatalf("%s with %d policies, %d expressions, %d type warnings, problems %v", got.Decision, len(got.Policies), len(got.Expressions), len(got.TypeWarnings), got.Problems)
	}
	if diff := cmp.Diff(map[string]int{"policies": more, "expressions": more, "typeWarnings": more}, got.Omitted); diff != "" {
		t.Errorf("omitted (-want +got):\n%s", diff)
	}
	if len(got.Reason) > 3000 || !strings.HasPrefix(got.Reason, "policy 0.example.com") || !strings.HasSuffix(got.Reason, "…") {
		t.Errorf("the reason has %d bytes: %.3000s", len(got.Reason), got.Reason)
	}
}

func get(t *testing.T, url string) *http.Response {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// answer decodes the body of a response.
func answer(t *testing.T, response *http.Response, into any) {
	t.Helper()
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v", response.Status, err)
	}
}

func TestPlaygroundErrors(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("a: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"--port", port}, "celador: port " + port + " of 127.0.0.1 is in use: choose another one with --port", 1},
		{[]string{"--port", "65536"}, "celador: --port 65536 is not a port", 1},
		{[]string{"--port", "0", "missing.yaml"}, "stat missing.yaml: no such file or directory", 2},
		{[]string{"--port", "0", bad}, bad + ":1: not valid YAML", 2},
	} {
		stdout, stderr, code := run(t, celador(t, "", append([]string{"playground"}, test.args...)...))
		if stdout != "" || !isOneLine(stderr, test.want) || code != test.code {
			t.Errorf("%q: %q, %q, exit code %d", test.args, stdout, stderr, code)
		}
	}
}
