// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/apiserver/pkg/features"
	"celador.io/offline/cluster"
	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
	"celador.io/celador/test/integration/livesuite"
	"celador.io/celador/test/integration/testserver"
)

// testSuites sends the requests of suites to the server, whose answers are those of celador test.
func testSuites(t *testing.T, server *livesuite.Server) {
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
		for _, test := range loaded {
			// This gate of the server changes the answers of all policies.
			gates := map[string]bool{string(features.AdmissionPolicyCauses): true}
			maps.Copy(gates, test.Suite.FeatureGates)
			test.Suite.FeatureGates = gates
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
				if c.Err == nil && c.Request.Time.IsZero() { // the server has its own clock
					expect(t, server, c.Manifests, c.Request, c.Response)
				}
			})
		}
	}
}

// expect compares the answer of a server to a request with a response of the cluster.
func expect(t *testing.T, server *livesuite.Server, objects []*unstructured.Unstructured, request *cluster.Request, response *cluster.Response) {
	t.Helper()
	server.Setup(t, objects, request)
	e := server.NewExchange(t, request)
	want := livesuite.AnswerOf(response)
	testserver.Eventually(t, func(ctx context.Context) error {
		got, err := e.Send(ctx)
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			err = errors.New("celador test and the server differ (-celador test +server):\n" + diff)
		}
		return err
	})
}
