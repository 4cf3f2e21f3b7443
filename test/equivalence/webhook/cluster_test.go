// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"
	"testing/synctest"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	webhookinitializer "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	upstreammutating "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	upstreamvalidating "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"celador.io/apiserver/pkg/admission/plugin/webhook/validating"

	"celador.io/celador/test/equivalence/harness"
)

// step is a step of admission.
type step int

const (
	mutate step = iota
	validate
)

var steps = map[string]step{"mutating": mutate, "validating": validate}

// subject is a plugin and the webhooks that it calls.
type subject struct {
	admission.Interface
	*endpoint
}

// cluster is a cluster with the plugins of both steps and both sides.
type cluster struct {
	*harness.Cluster
	scenario
	celador, upstream [2]subject
}

// start returns a cluster with the scenario and all plugins, which stop at the end of the test.
func start(t *testing.T, s scenario) *cluster {
	t.Helper()
	c := &cluster{Cluster: harness.NewCluster(t)}
	for _, configuration := range s.configurations() {
		c.Store(t, configuration)
	}
	c.scenario = s
	c.celador = [2]subject{newSubject(mutating.New(nil))(t), newSubject(validating.New(nil))(t)}
	c.upstream = [2]subject{newSubject(upstreammutating.NewMutatingWebhook(nil))(t), newSubject(upstreamvalidating.NewValidatingAdmissionWebhook(nil))(t)}
	c.Run(t, utilfeature.DefaultFeatureGate, c.celador[mutate].Interface, c.upstream[mutate].Interface, c.celador[validate].Interface, c.upstream[validate].Interface)
	return c
}

// newSubject returns a function that gives a new plugin an endpoint of its own.
func newSubject[T admission.Interface](plugin T, err error) func(t *testing.T) subject {
	return func(t *testing.T) subject {
		t.Helper()
		must(t, err)
		e := &endpoint{}
		webhookinitializer.NewPluginInitializer(e.wrap, e).Initialize(plugin)
		any(plugin).(initializer.WantsExcludedAdmissionResources).SetExcludedAdmissionResources(reviews)
		return subject{plugin, e}
	}
}

// replace replaces all configurations by those of another scenario. It returns when the
// plugins know them.
func (c *cluster) replace(t *testing.T, s scenario) {
	t.Helper()
	before, after := c.scenario.configurations(), s.configurations()
	for name, configuration := range after {
		c.Store(t, configuration)
		delete(before, name)
	}
	for _, configuration := range before {
		c.Remove(t, configuration)
	}
	c.scenario = s
	c.Settle()
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
