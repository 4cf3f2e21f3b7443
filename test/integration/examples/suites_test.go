// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/offline/cluster"
	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
	"celador.io/celador/test/integration/testserver"
)

// testSuites sends the requests of suites to the server, whose answers are those of celador test.
func testSuites(t *testing.T, server *live) {
	var tests []*suite.Test
	files, err := new(suite.Loader).Find("../../../examples", "testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		loaded, err := new(suite.Loader).Load(file)
		if err != nil {
			t.Fatal(err)
		}
		tests = append(tests, loaded...)
	}
	for _, result := range (&suite.Runner{Backend: offlinebackend.KubeAPIServer}).Run(t.Context(), tests) {
		for i := range result.Cases {
			c := &result.Cases[i]
			t.Run(result.Name+"/"+c.Name, func(t *testing.T) {
				if !c.Passed() {
					t.Errorf("%s: error %v, mismatches %+v", c.Position, c.Err, c.Mismatches)
				}
				if c.Err == nil {
					server.expect(t, c.Manifests, c.Request, c.Response)
				}
			})
		}
	}
}

// expect compares the answer of the server to a request with a response of the cluster.
func (l *live) expect(t *testing.T, objects []*unstructured.Unstructured, request *cluster.Request, response *cluster.Response) {
	t.Helper()
	var policies, others []*unstructured.Unstructured
	for _, object := range objects {
		switch old := request.OldObject; {
		case strings.HasSuffix(object.GetKind(), "WebhookConfiguration"): // whose webhooks do not exist
		case isPolicy(object):
			policies = append(policies, object)
		case old == nil || object.GroupVersionKind().GroupKind() != old.GroupVersionKind().GroupKind() || object.GetNamespace() != old.GetNamespace() || object.GetName() != old.GetName():
			others = append(others, object)
		}
	}
	l.install(t, others...)
	if request.OldObject != nil {
		l.install(t, request.OldObject)
	}
	l.install(t, policies...)
	e := l.newExchange(t, request)
	want := answerOf(response)
	testserver.Eventually(t, func(ctx context.Context) error {
		got, err := e.send(ctx)
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			err = errors.New("celador test and the server differ (-celador test +server):\n" + diff)
		}
		return err
	})
}
