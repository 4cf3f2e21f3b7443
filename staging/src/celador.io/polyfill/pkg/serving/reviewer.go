// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/admission/policy"
	"celador.io/admission/review"

	"celador.io/polyfill/pkg/routing"
)

// A Reviewer answers reviews by the policies of one kind. Safe for concurrent use.
type Reviewer struct {
	// Ready returns an error while the replica cannot answer.
	Ready func() error
	// Table has the policies of URL paths.
	Table *routing.Table
	// Plugin decides, by the policies that Selected returns for the context.
	Plugin admission.Interface
	// Objects are the interfaces for the objects of reviews.
	Objects admission.ObjectInterfaces
}

// Prepare implements Prepare: it selects the policies of a path.
func (r *Reviewer) Prepare(ctx context.Context, path string) (context.Context, error) {
	if err := r.Ready(); err != nil {
		return nil, err
	}
	selection, err := r.Table.Selection(ctx, path)
	return context.WithValue(ctx, selectionKey{}, selection), err
}

// Decide is a Decider, for the contexts that Prepare returns.
func (r *Reviewer) Decide(ctx context.Context, request *review.Request) *admissionv1.AdmissionResponse {
	warnings := &recorder{}
	err := r.admit(warning.WithWarningRecorder(ctx, warnings), request)
	return request.Response(err, warnings.texts...)
}

// admit returns the error with which the plugin rejects a request.
func (r *Reviewer) admit(ctx context.Context, request *review.Request) error {
	if !r.Plugin.Handles(request.GetOperation()) {
		return nil
	}
	if plugin, ok := r.Plugin.(admission.MutationInterface); ok {
		return plugin.Admit(ctx, request, r.Objects)
	}
	return r.Plugin.(admission.ValidationInterface).Validate(ctx, request, r.Objects)
}

type selectionKey struct{}

// Selected returns the policies that decide about the request of a context.
func Selected(ctx context.Context) *policy.Selection {
	return ctx.Value(selectionKey{}).(*policy.Selection)
}

// recorder collects the warnings of a request. It is used by one goroutine at a time.
type recorder struct{ texts []string }

// AddWarning implements warning.Recorder.
func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, text) }
