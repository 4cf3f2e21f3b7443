// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package engine starts the admission plugins that are compared.
package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	webhookinitializer "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"

	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
	"celador.io/celador/plugin/pkg/admission/validatingadmissionpolicy"
	"celador.io/celador/test/benchmark/api"
)

// patience is how long a plugin may take to be ready: compiling 10,000 policies takes
// a while.
const patience = 5 * time.Minute

// Engine is an admission plugin that knows all policies or webhooks. Validate is Admit
// where the plugin takes part in that step.
type Engine struct {
	admission.ValidationInterface
	stop func()
}

// Stop ends everything that runs for the engine.
func (e *Engine) Stop() { e.stop() }

// Celador returns Celador's plugin, ready, with the policies of a server.
func Celador(server *api.Server) (*Engine, error) {
	plugin, err := validatingadmissionpolicy.New(nil)
	if err != nil {
		return nil, err
	}
	return start(plugin, plugin.Handler, server)
}

// Upstream returns Kubernetes' plugin, ready, with the policies of a server.
func Upstream(server *api.Server) (*Engine, error) {
	plugin, err := upstream.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	return start(plugin, plugin.Handler, server)
}

// start does for a plugin what a kube-apiserver does.
func start(plugin admission.Interface, handler *admission.Handler, server *api.Server) (*Engine, error) {
	config := server.Config()
	kube, kubeErr := kubernetes.NewForConfig(config)
	policies, policiesErr := clientset.NewForConfig(config)
	params, paramsErr := dynamic.NewForConfig(config)
	if err := errors.Join(kubeErr, policiesErr, paramsErr); err != nil {
		return nil, err
	}
	kubeInformers := kubeinformers.NewSharedInformerFactory(kube, 0)
	policyInformers := informers.NewSharedInformerFactory(policies, 0)

	ctx, cancel := context.WithCancel(context.Background())
	initializer.New(kube, params, kubeInformers, authorizer.AuthorizerFunc(abstain), utilfeature.DefaultFeatureGate, nil, ctx.Done(), server.RESTMapper()).Initialize(plugin)
	kubeadmission.NewInitializer(policyInformers).Initialize(plugin)
	webhookinitializer.NewPluginInitializer(nil, nil).Initialize(plugin)
	if err := plugin.(admission.InitializationValidator).ValidateInitialization(); err != nil {
		cancel()
		return nil, err
	}
	kubeInformers.Start(ctx.Done())
	policyInformers.Start(ctx.Done())
	engine := &Engine{examiner(plugin), func() {
		cancel()
		kubeInformers.Shutdown()
		policyInformers.Shutdown()
	}}
	// A handler waits for ten seconds at most.
	for deadline := time.Now().Add(patience); !handler.WaitForReady(); {
		if time.Now().After(deadline) {
			engine.Stop()
			return nil, fmt.Errorf("%T is not ready after %v", plugin, patience)
		}
	}
	return engine, nil
}

func abstain(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "", nil
}
