// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"testing"
	"testing/synctest"

	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"

	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"

	"celador.io/celador/test/equivalence/harness"
)

// cluster is a cluster with both plugins.
type cluster struct {
	*harness.Cluster
	celador  admission.ValidationInterface
	upstream admission.ValidationInterface
}

// start returns a cluster with the scenario and both plugins, which stop at the end of the
// test.
func start(t *testing.T, s scenario) *cluster {
	t.Helper()
	c := newCluster(t, s)
	c.run(t, utilfeature.DefaultFeatureGate, c.upstream)
	return c
}

// newCluster returns a cluster with the scenario whose plugins do not run yet.
func newCluster(t *testing.T, s scenario) *cluster {
	t.Helper()
	ours, err := validatingadmissionpolicy.New(nil)
	must(t, err)
	theirs, err := upstream.NewPlugin(nil)
	must(t, err)
	c := &cluster{Cluster: harness.NewCluster(t), celador: ours, upstream: theirs}
	for _, param := range s.Params {
		c.Store(t, param)
	}
	for _, policy := range s.Policies {
		c.Store(t, policy)
	}
	for _, binding := range s.Bindings {
		c.Store(t, binding)
	}
	return c
}

// run initializes Celador's plugin and the given others.
func (c *cluster) run(t *testing.T, gates featuregate.FeatureGate, others ...admission.Interface) {
	t.Helper()
	c.Run(t, gates, append(others, c.celador)...)
}

// compareIn compares the outcomes of requests in a new cluster.
func compareIn(t *testing.T, s scenario, requests map[string]request) (result comparison) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		result = start(t, s).compare(t, requests, s.ordered())
	})
	return result
}
