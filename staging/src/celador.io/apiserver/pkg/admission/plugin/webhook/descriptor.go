// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission/configuration"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/manifest/source"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/informers"
)

// A Descriptor holds the differences between validating and mutating webhooks that do not concern
// the order of calls.
type Descriptor struct {
	// name is the kind's name in traces.
	name string
	// metric is the value of the label "type" in upstream's metrics. In the metrics of exclusions,
	// the value is that of WebhookAccessor.GetType.
	metric string
	// failedOpen is the prefix of the audit annotation for calls that failurePolicy ignores.
	failedOpen string
	// patches is set if responses may have a patch.
	patches bool
	// tracker returns the tracker of the latency that calls add to a request.
	tracker func(*request.LatencyTrackers) request.DurationTracker
	// list returns the source of the webhooks in the API. For requests for the excluded resources,
	// it has no webhooks.
	list func(_ informers.SharedInformerFactory, excluded sets.Set[schema.GroupResource]) generic.Source
	// hasLoader reports whether the server can load manifests of the kind.
	hasLoader func(*initializer.ManifestLoaders) bool
	// static loads webhooks from the manifests in a directory.
	static func(_ *initializer.ManifestLoaders, dir, apiServerID string) (generic.ReloadableSource, error)
}

// The kinds of webhooks.
var (
	Validating = &Descriptor{
		name: "validating", metric: "validating", failedOpen: validating.ValidatingAuditAnnotationFailedOpenKeyPrefix,
		tracker:   func(t *request.LatencyTrackers) request.DurationTracker { return t.ValidatingWebhookTracker },
		list:      configuration.NewValidatingWebhookConfigurationManager,
		hasLoader: func(l *initializer.ManifestLoaders) bool { return l.LoadValidatingWebhookManifests != nil },
		static: func(l *initializer.ManifestLoaders, dir, apiServerID string) (generic.ReloadableSource, error) {
			manifests := source.NewValidatingSource(dir, apiServerID, source.ValidatingWebhookLoadFunc(l.LoadValidatingWebhookManifests))
			return manifests, manifests.LoadInitial()
		},
	}
	Mutating = &Descriptor{
		name: "mutating", metric: "admit", failedOpen: mutating.MutationAuditAnnotationFailedOpenKeyPrefix, patches: true,
		tracker:   func(t *request.LatencyTrackers) request.DurationTracker { return t.MutatingWebhookTracker },
		list:      configuration.NewMutatingWebhookConfigurationManager,
		hasLoader: func(l *initializer.ManifestLoaders) bool { return l.LoadMutatingWebhookManifests != nil },
		static: func(l *initializer.ManifestLoaders, dir, apiServerID string) (generic.ReloadableSource, error) {
			manifests := source.NewMutatingSource(dir, apiServerID, source.MutatingWebhookLoadFunc(l.LoadMutatingWebhookManifests))
			return manifests, manifests.LoadInitial()
		},
	}
)
