// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"maps"

	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"

	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus"
)

// checkTypes adds a post-start hook to the server that checks policies against the types that the
// main server publishes, those of this server included, and gives the plugins the verdicts. The
// status of policies is left to the main server.
func checkTypes(config *genericapiserver.RecommendedConfig, client clientset.Interface, policies informers.SharedInformerFactory, plugins *policyinit.Initializer) error {
	enabled, compiler := policyspec.FeaturesOf(utilfeature.DefaultFeatureGate), expression.Default()
	verdicts := map[string][]typecheck.VerdictStore{}
	controller, err := admissionpolicystatus.NewForCluster(config.ClientConfig, admissionpolicystatus.Config{
		Kinds: []*admissionpolicystatus.Descriptor{
			admissionpolicystatus.Validating(client, policies, compiler, enabled),
			admissionpolicystatus.Mutating(client, policies, compiler, enabled),
		},
		Verdicts: verdicts,
	})
	if err != nil {
		return err
	}
	return config.AddPostStartHook("check-policy-types", func(hook genericapiserver.PostStartHookContext) error {
		// The plugins have their stores only now, after their initialization.
		maps.Copy(verdicts, plugins.VerdictStores())
		go controller.Run(hook)
		return nil
	})
}
