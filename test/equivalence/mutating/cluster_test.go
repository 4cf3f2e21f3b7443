// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/openapi"
	"k8s.io/component-base/featuregate"

	"celador.io/apiserver/pkg/admission/plugin/mutatingadmissionpolicy"

	"celador.io/celador/test/equivalence/harness"
)

// cluster is a cluster with both plugins.
type cluster struct {
	*harness.Cluster
	scenario
	celador, upstream admission.MutationInterface
	// observed are the metrics before the next request.
	observed harness.Counts
}

// start returns a cluster with the scenario and both plugins, which stop at the end of the
// test.
func start(t *testing.T, s scenario) *cluster {
	t.Helper()
	return startWith(t, s, utilfeature.DefaultFeatureGate)
}

// startWith returns a cluster whose plugins have the given feature gates.
func startWith(t *testing.T, s scenario, gates featuregate.FeatureGate) *cluster {
	t.Helper()
	theirs, err := upstream.NewPlugin(nil)
	must(t, err)
	ours, err := mutatingadmissionpolicy.New(nil)
	must(t, err)
	c := &cluster{Cluster: harness.NewCluster(t), scenario: s, celador: ours, upstream: theirs}
	c.Client = client{c.Kube}
	for _, policy := range s.Policies {
		c.Store(t, policy)
	}
	for _, binding := range s.Bindings {
		c.Store(t, binding)
	}
	for _, param := range s.Params {
		c.Store(t, param)
	}
	c.Run(t, gates, theirs, ours)
	c.observed = compared.Read(t)
	return c
}

// client is the client of a server that publishes OpenAPI documents.
type client struct{ kubernetes.Interface }

// Discovery implements kubernetes.Interface.
func (c client) Discovery() discovery.DiscoveryInterfaces {
	return publishing{c.Interface.Discovery()}
}

type publishing struct{ discovery.DiscoveryInterfaces }

// OpenAPIV3 implements discovery.OpenAPIV3SchemaInterface.
func (publishing) OpenAPIV3() openapi.Client { return published() }

// limit returns a Limit parameter with a label.
func limit(namespace, name string, most int64, set string) *unstructured.Unstructured {
	object := harness.Limit(namespace, name, most)
	object.SetLabels(map[string]string{"set": set})
	return object
}

// compareIn compares the outcomes of requests in a new cluster.
func compareIn(t *testing.T, s scenario, requests map[string]request) (result comparison) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		result = start(t, s).compare(t, requests)
	})
	return result
}

// shrink returns a small scenario and requests for which the plugins differ.
func shrink(t *testing.T, s scenario, requests map[string]request) (scenario, map[string]request) {
	t.Helper()
	return harness.Shrink(s, requests, func(s scenario, requests map[string]request) bool {
		return compareIn(t, s, requests).Unexplained != nil
	})
}
