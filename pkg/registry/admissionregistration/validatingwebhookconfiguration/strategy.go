// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validatingwebhookconfiguration has the rules by which the server writes
// ValidatingWebhookConfigurations: upstream's, and a feature gate for match conditions.
package validatingwebhookconfiguration

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	upstream "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
)

// Strategy governs writes to a configuration. It is upstream's but for what it
// prepares: match conditions are dropped while feature gate
// AdmissionWebhookMatchConditions is off. Safe for concurrent use.
type Strategy struct {
	upstreamStrategy
}

// upstreamStrategy is all that servers ask of upstream's Strategy, the type of
// which cannot be named. They look for declarative validation at run time, so it
// would be lost without an error.
type upstreamStrategy interface {
	rest.RESTCreateUpdateStrategy
	rest.DeclarativeValidationStrategy
}

// NewStrategy returns a Strategy.
func NewStrategy() Strategy { return Strategy{upstream.Strategy} }

// PrepareForCreate drops match conditions whose feature gate is off, and does what
// upstream does.
func (s Strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	dropDisabled(obj.(*admissionregistration.ValidatingWebhookConfiguration), nil)
	s.upstreamStrategy.PrepareForCreate(ctx, obj)
}

// PrepareForUpdate drops match conditions whose feature gate is off, unless the
// stored configuration has some. Only then upstream looks for changes, to count the
// generation up.
func (s Strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	dropDisabled(obj.(*admissionregistration.ValidatingWebhookConfiguration), old.(*admissionregistration.ValidatingWebhookConfiguration).Webhooks)
	s.upstreamStrategy.PrepareForUpdate(ctx, obj, old)
}
