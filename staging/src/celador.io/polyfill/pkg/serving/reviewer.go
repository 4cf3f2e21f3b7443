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
	// Kind is the kind of policies, and Table has their routes.
	Kind  routing.Kind
	Table *routing.Table
	// Plugin decides, by the policies that Selected returns for the context.
	Plugin admission.Interface
}

// Decide is a Decider.
func (r *Reviewer) Decide(ctx context.Context, route string, request *review.Request) *admissionv1.AdmissionResponse {
	warnings := &recorder{}
	selection := r.Table.Selection(routing.Route{Kind: r.Kind, Name: route})
	err := r.admit(warning.WithWarningRecorder(context.WithValue(ctx, selectionKey{}, selection), warnings), request)
	return request.Response(err, warnings.texts...)
}

// admit returns the error with which the plugin rejects a request.
func (r *Reviewer) admit(ctx context.Context, request *review.Request) error {
	if !r.Plugin.Handles(request.GetOperation()) {
		return nil
	}
	if plugin, ok := r.Plugin.(admission.MutationInterface); ok {
		return plugin.Admit(ctx, request, review.Objects())
	}
	return r.Plugin.(admission.ValidationInterface).Validate(ctx, request, review.Objects())
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
