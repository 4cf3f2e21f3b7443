// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package engine starts the admission plugins that are compared.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	webhookinitializer "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	mutatingwebhooks "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhooks "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"celador.io/apiserver/pkg/admission/plugin/mutatingadmissionpolicy"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"
	celadormutating "celador.io/apiserver/pkg/admission/plugin/webhook/mutating"
	celadorvalidating "celador.io/apiserver/pkg/admission/plugin/webhook/validating"
	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	"celador.io/celador/test/benchmark/api"
)

// readyTimeout is the time within which a plugin must be ready. Compiling 10,000 policies takes
// long.
const readyTimeout = 5 * time.Minute

// An Engine is a ready admission plugin. All plugins are called by Validate, also mutating ones:
// their Validate calls Admit.
type Engine struct {
	admission.ValidationInterface
	// Stop stops the informers and goroutines of the engine.
	Stop func()
}

// A Start starts a plugin that reads its policies or webhooks from the server.
type Start func(*api.Server) (*Engine, error)

// The plugins that are compared: Kubernetes' is the first of each kind, and Celador's the second.
// Those for MutatingAdmissionPolicy may be ready before they have read the schemas of built-in
// types.
var (
	ValidatingPolicies = [2]Start{starter(validating.NewPlugin), starter(validatingadmissionpolicy.New)}
	MutatingPolicies   = [2]Start{starter(mutating.NewPlugin), starter(mutatingadmissionpolicy.New)}
	ValidatingWebhooks = [2]Start{starter(validatingwebhooks.NewValidatingAdmissionWebhook), starter(celadorvalidating.New)}
	MutatingWebhooks   = [2]Start{starter(mutatingwebhooks.NewMutatingWebhook), starter(celadormutating.New)}
)

// A plugin is an admission plugin that start can initialize, and for which it can wait.
type plugin interface {
	admission.Interface
	admission.InitializationValidator
	WaitForReady() bool
}

// starter returns a Start for the plugin that create returns. Celador's plugins may leave the
// compilation of a policy to the first request that needs it. Here they compile all policies before
// the measurement, as upstream's do, so that no compilation is measured.
func starter[P plugin](create func(configFile io.Reader) (P, error)) Start {
	return func(server *api.Server) (*Engine, error) {
		plugin, err := create(nil)
		if err != nil {
			return nil, err
		}
		engine, err := start(plugin, server)
		if err != nil {
			return nil, err
		}
		if compiler, ok := any(plugin).(interface{ CompileAll(context.Context) }); ok {
			compiler.CompileAll(context.Background())
		}
		return engine, nil
	}
}

// start initializes a plugin as a kube-apiserver does, and waits until it is ready.
func start(plugin plugin, server *api.Server) (*Engine, error) {
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
	policyinit.New(policyinit.Config{Client: policies, Informers: policyInformers, BuiltIn: builtintypes.Scheme().IsVersionRegistered}).Initialize(plugin)
	webhookinitializer.NewPluginInitializer(nil, nil).Initialize(plugin)
	if err := plugin.ValidateInitialization(); err != nil {
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
	// WaitForReady gives up after ten seconds.
	for deadline := time.Now().Add(readyTimeout); !plugin.WaitForReady(); {
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

func validator(plugin admission.Interface) admission.ValidationInterface {
	if validating, ok := plugin.(admission.ValidationInterface); ok {
		return validating
	}
	return mutatingPlugin{plugin.(admission.MutationInterface)}
}

type mutatingPlugin struct{ admission.MutationInterface }

// Validate implements admission.ValidationInterface.
func (p mutatingPlugin) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.Admit(ctx, a, o)
}
