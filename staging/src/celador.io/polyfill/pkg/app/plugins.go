// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	kubeinformers "k8s.io/client-go/informers"

	"celador.io/apiserver/pkg/admission/plugin/mutatingadmissionpolicy"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"
	policyinformers "celador.io/client-go/informers"

	"celador.io/polyfill/pkg/routing"
	"celador.io/polyfill/pkg/serving"
)

// How long answers of the authorizer are remembered, as in aggregated API servers.
const (
	allowTTL = 10 * time.Second
	denyTTL  = 10 * time.Second
)

// newAuthorizer returns an authorizer that asks the API server and remembers a bounded number of
// answers.
func newAuthorizer(c *clients) (authorizer.Authorizer, error) {
	return authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: c.urgent.AuthorizationV1(),
		AllowCacheTTL:             allowTTL,
		DenyCacheTTL:              denyTTL,
		WebhookRetryBackoff:       &wait.Backoff{Duration: 100 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 4},
	}.New()
}

// plugins are the admission plugins of an API server, which read the polyfill's policies.
type plugins struct {
	*policyinit.Initializer
	authorizer authorizer.Authorizer
	validating *validatingadmissionpolicy.Plugin
	mutating   *mutatingadmissionpolicy.Plugin
}

// newPlugins returns the admission plugins for validating and mutating policies. They are ready
// when the informers that they request from core and policies have synced.
func newPlugins(ctx context.Context, c *clients, core kubeinformers.SharedInformerFactory, policies policyinformers.SharedInformerFactory) (*plugins, error) {
	authorizer, err := newAuthorizer(c)
	if err != nil {
		return nil, err
	}
	p := &plugins{authorizer: authorizer, Initializer: policyinit.New(policyinit.Config{Client: c.policies, Informers: policies, Select: serving.Selected})}
	if p.validating, err = validatingadmissionpolicy.New(nil); err != nil {
		return nil, err
	}
	if p.mutating, err = mutatingadmissionpolicy.New(nil); err != nil {
		return nil, err
	}
	initializers := admission.PluginInitializers{
		initializer.New(c.core, c.dynamic, core, authorizer, utilfeature.DefaultFeatureGate, nil, ctx.Done(), nil), p.Initializer,
	}
	for _, plugin := range []interface {
		admission.Interface
		admission.InitializationValidator
	}{p.validating, p.mutating} {
		initializers.Initialize(plugin)
		if err := plugin.ValidateInitialization(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// byKind returns the plugin of each kind of policies.
func (p *plugins) byKind() map[routing.Kind]admission.Interface {
	return map[routing.Kind]admission.Interface{routing.Validating: p.validating, routing.Mutating: p.mutating}
}
