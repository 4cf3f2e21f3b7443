// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
)

// An interceptedAdmission is an admission chain for requests whose objects may not convert.
type interceptedAdmission struct {
	admission.Interface
	// intercept is called in place of the chain. It calls decide, which runs the chain with the
	// attributes that plugins shall see, and returns the decision.
	intercept func(a admission.Attributes, decide func(admission.Attributes) error) error
}

// Admit implements admission.MutationInterface.
func (i interceptedAdmission) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	chain, ok := i.Interface.(admission.MutationInterface)
	if !ok {
		return nil
	}
	return i.intercept(a, func(a admission.Attributes) error { return chain.Admit(ctx, a, o) })
}

// Validate implements admission.ValidationInterface.
func (i interceptedAdmission) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	chain, ok := i.Interface.(admission.ValidationInterface)
	if !ok {
		return nil
	}
	return i.intercept(a, func(a admission.Attributes) error { return chain.Validate(ctx, a, o) })
}
