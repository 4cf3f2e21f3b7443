// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"k8s.io/apiserver/pkg/cel/environment"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	"celador.io/apiserver/pkg/admission/typechecks"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus"
	policyinformers "celador.io/client-go/informers"

	"celador.io/polyfill/pkg/policyapi"
)

// typesTimeout is how long a write of a policy waits at most for servers that do not answer, when
// its expressions are checked against the types that they serve. Types that are not found then
// cause neither errors nor warnings.
const typesTimeout = time.Second

// newStatus returns the controller that checks the types of policies until ctx ends, the validator
// that refuses writes of policies with type errors, and the warner that warns about type errors. As
// on an API server, type errors of custom resources and of types of aggregated servers are
// warnings.
func newStatus(ctx context.Context, c *clients, p *plugins, policies policyinformers.SharedInformerFactory) (*admissionpolicystatus.Controller, *typechecks.Validator, *typechecks.Warner, error) {
	enabled, compiler := policyspec.FeaturesOf(utilfeature.DefaultFeatureGate), expression.Default()
	controller, err := admissionpolicystatus.NewForCluster(c.config, admissionpolicystatus.Config{
		GroupVersion: policyapi.GroupVersion,
		Kinds: []*admissionpolicystatus.Descriptor{
			admissionpolicystatus.Validating(c.policies, policies, compiler, enabled),
			admissionpolicystatus.Mutating(c.policies, policies, compiler, enabled),
		},
		Verdicts: p.VerdictStores(),
	})
	if err != nil {
		return nil, nil, nil, err
	}
	checker, err := typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
	if err != nil {
		return nil, nil, nil, err
	}
	limited := func() context.Context {
		limited, cancel := context.WithCancel(ctx)
		time.AfterFunc(typesTimeout, cancel)
		return limited
	}
	warner := typechecks.New(checker)
	warner.Use(func() typecheck.Types { return controller.Types().TypeFinder(limited()) })
	validator := typechecks.NewValidator(func() typecheck.Types { return controller.Types().BuiltInTypeFinder(limited()) })
	return controller, validator, warner, nil
}
