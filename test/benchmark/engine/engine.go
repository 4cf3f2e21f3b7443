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

// readyTimeout is the time within which a plugin must be ready. Compiling 10,000 policies takes
// long.
const readyTimeout = 5 * time.Minute

// An Engine is a ready admission plugin. Its Validate method calls Admit if the plugin is a
// mutating one.
type Engine struct {
	admission.ValidationInterface
	stop func()
}

// Stop stops the informers and goroutines of the engine.
func (e *Engine) Stop() { e.stop() }

// Celador returns Celador's ValidatingAdmissionPolicy plugin with the policies of a server. The
// plugin has compiled all of them, as upstream's has, so that no compilation runs beside a
// measurement.
func Celador(server *api.Server) (*Engine, error) {
	plugin, err := validatingadmissionpolicy.New(nil)
	if err != nil {
		return nil, err
	}
	engine, err := start(plugin, plugin.Handler, server)
	if err != nil {
		return nil, err
	}
	plugin.CompileAll(context.Background())
	return engine, nil
}

// Upstream returns Kubernetes' ValidatingAdmissionPolicy plugin with the policies of a server.
func Upstream(server *api.Server) (*Engine, error) {
	plugin, err := upstream.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	return start(plugin, plugin.Handler, server)
}

// start initializes a plugin as a kube-apiserver does, and waits until it is ready.
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
	kubeadmission.NewInitializer(policies, policyInformers, nil, kubeadmission.Freshness{}).Initialize(plugin)
	webhookinitializer.NewPluginInitializer(nil, nil).Initialize(plugin)
	if err := plugin.(admission.InitializationValidator).ValidateInitialization(); err != nil {
		cancel()
		return nil, err
	}
	kubeInformers.Start(ctx.Done())
	policyInformers.Start(ctx.Done())
	engine := &Engine{validator(plugin), func() {
		cancel()
		kubeInformers.Shutdown()
		policyInformers.Shutdown()
	}}
	// WaitForReady returns after at most ten seconds.
	for deadline := time.Now().Add(readyTimeout); !handler.WaitForReady(); {
		if time.Now().After(deadline) {
			engine.Stop()
			return nil, fmt.Errorf("%T is not ready after %v", plugin, readyTimeout)
		}
	}
	return engine, nil
}

func abstain(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "", nil
}
