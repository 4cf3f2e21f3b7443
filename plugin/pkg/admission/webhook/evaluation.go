// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/klog/v2"

	"celador.io/admission/activation"
	"celador.io/admission/expression"
	"celador.io/admission/policyspec"
)

type evaluationKey struct{}

// WithEvaluation returns a context in which the match conditions of all webhooks share
// what they read and what they come to. It is for one request, one webhook after the other.
// EndEvaluation should follow.
func WithEvaluation(ctx context.Context) context.Context {
	return context.WithValue(ctx, evaluationKey{}, newEvaluation(ctx))
}

// EndEvaluation makes the memory of an evaluation available to other requests. Conditions
// that are evaluated after that read everything again.
func EndEvaluation(ctx context.Context) {
	if e, ok := ctx.Value(evaluationKey{}).(*evaluation); ok {
		e.end()
	}
}

// evaluation is what the match conditions of one request share. Not safe for concurrent use.
type evaluation struct {
	// why logs what excludes the request from webhooks, if explain is set.
	why     klog.Logger
	explain bool

	authorizer *activation.Authorizer
	// forms are few: one for each kind that webhooks ask for.
	forms []form
	// budget is that of the webhook whose conditions are evaluated.
	budget expression.Budget
}

func newEvaluation(ctx context.Context) *evaluation {
	why := klog.FromContext(ctx).V(5)
	return &evaluation{why: why, explain: why.Enabled()}
}

func (e *evaluation) end() {
	for i := range e.forms {
		e.forms[i].series.End()
	}
	e.forms = nil
}

// form is the request with its objects in one kind.
type form struct {
	attributes *admission.VersionedAttributes
	kind       schema.GroupVersionKind
	object     runtime.Object
	series     *expression.Series
}

// series returns the series that evaluates conditions on the attributes as they are now.
func (e *evaluation) series(ctx context.Context, a *admission.VersionedAttributes, authz authorizer.UnconditionalAuthorizer) *expression.Series {
	at := len(e.forms)
	for i := range e.forms {
		f := &e.forms[i]
		if f.attributes != a {
			continue
		}
		if f.kind == a.VersionedKind && f.object == a.VersionedObject.Object() {
			return f.series
		}
		at = i // A webhook changed the object, or the attributes were converted.
	}
	if e.authorizer == nil {
		e.authorizer = activation.NewAuthorizer(authz)
	}
	input := activation.NewInput(a.Attributes, a.GetResource(), a.VersionedKind, a.VersionedObject.Object(), a.VersionedOldObject.Object(), e.authorizer)
	series := activation.NewSeries(ctx, activation.Subject{Input: input}, policyspec.MatchCondition, nil, nil).Recurring()
	made := form{a, a.VersionedKind, a.VersionedObject.Object(), series}
	if at == len(e.forms) {
		e.forms = append(e.forms, made)
	} else {
		e.forms[at].series.End()
		e.forms[at] = made
	}
	return series
}
