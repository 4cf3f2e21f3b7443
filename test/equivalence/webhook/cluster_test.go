// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	webhookinitializer "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	upstreammutating "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	upstreamvalidating "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"celador.io/celador/plugin/pkg/admission/webhook/mutating"
	"celador.io/celador/plugin/pkg/admission/webhook/validating"
)

// step is a step of admission.
type step int

const (
	mutate step = iota
	validate
)

var steps = map[string]step{"mutating": mutate, "validating": validate}

// subject is a plugin and the webhooks that it reaches.
type subject struct {
	admission.Interface
	*endpoint
}

// cluster is what the plugins are given by a server. It lives in a synctest bubble:
// informers have delivered everything when all goroutines wait, and waiting takes no time.
type cluster struct {
	scenario
	client            *fake.Clientset
	celador, upstream [2]subject
}

// start returns a cluster with the scenario and, in sync with it, the plugins of both
// steps. It ends with the test.
func start(t *testing.T, s scenario) *cluster {
	t.Helper()
	client := fake.NewSimpleClientset()
	for name, labels := range namespaces {
		must(t, client.Tracker().Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}))
	}
	c := &cluster{client: client}
	c.store(t, s)
	stop := make(chan struct{})
	factory := informers.NewSharedInformerFactory(client, 0)
	t.Cleanup(func() {
		close(stop)
		factory.Shutdown()
	})
	run := func(plugin admission.Interface, err error) subject {
		t.Helper()
		must(t, err)
		e := &endpoint{}
		initializer.New(client, nil, factory, authorizer.AuthorizerFunc(authorize), utilfeature.DefaultFeatureGate, nil, stop, nil).Initialize(plugin)
		webhookinitializer.NewPluginInitializer(e.wrap, e).Initialize(plugin)
		plugin.(initializer.WantsExcludedAdmissionResources).SetExcludedAdmissionResources(reviews)
		must(t, plugin.(admission.InitializationValidator).ValidateInitialization())
		return subject{plugin, e}
	}
	c.celador[mutate], c.upstream[mutate] = run(plugin(mutating.New(nil))), run(plugin(upstreammutating.NewMutatingWebhook(nil)))
	c.celador[validate], c.upstream[validate] = run(plugin(validating.New(nil))), run(plugin(upstreamvalidating.NewValidatingAdmissionWebhook(nil)))
	factory.Start(stop)
	synctest.Wait()
	return c
}

// store replaces all configurations by those of the scenario. Plugins that run know of
// them when it returns.
func (c *cluster) store(t *testing.T, s scenario) {
	t.Helper()
	mutations, validations := s.configurations()
	before, _ := c.scenario.configurations()
	api, ctx := c.client.AdmissionregistrationV1(), t.Context()
	for name := range mutations {
		var mutatingErr, validatingErr error
		if before[name] == nil {
			_, mutatingErr = api.MutatingWebhookConfigurations().Create(ctx, mutations[name], metav1.CreateOptions{})
			_, validatingErr = api.ValidatingWebhookConfigurations().Create(ctx, validations[name], metav1.CreateOptions{})
		} else {
			_, mutatingErr = api.MutatingWebhookConfigurations().Update(ctx, mutations[name], metav1.UpdateOptions{})
			_, validatingErr = api.ValidatingWebhookConfigurations().Update(ctx, validations[name], metav1.UpdateOptions{})
		}
		must(t, errors.Join(mutatingErr, validatingErr))
	}
	for name := range before {
		if mutations[name] == nil {
			must(t, errors.Join(
				api.MutatingWebhookConfigurations().Delete(ctx, name, metav1.DeleteOptions{}),
				api.ValidatingWebhookConfigurations().Delete(ctx, name, metav1.DeleteOptions{})))
		}
	}
	c.scenario = s
	synctest.Wait()
}

func plugin[T admission.Interface](p T, err error) (admission.Interface, error) { return p, err }

// authorize allows to read, and fails when asked to fail.
func authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	switch a.GetVerb() {
	case "read", "get":
		return authorizer.DecisionAllow, "you may read", nil
	case "fail":
		return authorizer.DecisionNoOpinion, "", errors.New("authorizer is down")
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
