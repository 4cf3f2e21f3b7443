// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy holds the admission plugin for policies, which is generic over the kind of policy.
package policy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/manifest"
	manifestmetrics "k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"celador.io/admission/matching"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	"celador.io/client-go/clientset"
	policyinformers "celador.io/client-go/informers"

	"celador.io/apiserver/pkg/admission/plugin/caches"
	"celador.io/apiserver/pkg/admission/plugin/freshness"
	"celador.io/apiserver/pkg/admission/plugin/manifest"
	"celador.io/apiserver/pkg/admission/plugin/policymetrics"
	"celador.io/apiserver/pkg/admission/typechecks"
)

// APIObject is a pointer to a policy or binding.
type APIObject interface {
	comparable
	manifest.APIObject
}

// Descriptor describes the plugin for the policies and bindings of one kind.
type Descriptor[Policy, Binding APIObject, Body any] struct {
	// Name is the name of the kind of policy, and of the plugin.
	Name string
	// Gate is the feature gate of the kind.
	Gate featuregate.Feature
	// Operations are the operations that the plugin handles.
	Operations []admission.Operation
	// Policies returns the factory's informer of policies.
	Policies func(policyinformers.SharedInformerFactory) cache.SharedIndexInformer
	// Bindings lists and watches bindings.
	Bindings func(clientset.Interface) cache.ListerWatcher
	// SameSpec reports whether two policies have equal specs.
	SameSpec func(a, b Policy) bool
	// PolicyResource and BindingResource are the names of the resources of policies and bindings.
	PolicyResource, BindingResource string
	// ManifestType is the label of the metrics of manifest files.
	ManifestType manifestmetrics.ManifestType
	// Manifests returns a loader of manifest files whose objects may use the given features.
	Manifests func(policyspec.Features, *typechecks.Validator) *manifest.Loader[Policy, Binding]
	// NewEngine returns the engine of the kind. It is called once, when the server has set all
	// fields of Dependencies.
	NewEngine func(*Dependencies) Engine[Policy, Binding, Body]
}

// Engine is the part of a kind's engine that compiles objects.
type Engine[Policy, Binding APIObject, Body any] interface {
	NewStore() *policy.Store[Policy, Binding, Body]
	NewSnapshot(...runtime.Object) (*policy.Snapshot[Body], error)
}

// Plugin keeps the policies of one kind in effect. Snapshots is safe for concurrent use once
// ValidateInitialization returned.
type Plugin[Policy, Binding APIObject, Body any] struct {
	*admission.Handler
	Dependencies
	// Metrics are the metrics of the kind.
	Metrics policymetrics.Metrics

	descriptor Descriptor[Policy, Binding, Body]
	// dir is the directory of manifest files. Empty if there is none.
	dir string
	// files is nil without a directory of manifest files.
	files *manifest.Files[policy.Snapshot[Body]]
	// store is nil if the feature gate of the kind is disabled.
	store  *policy.Store[Policy, Binding, Body]
	synced caches.Synced
	// fresh is nil if the age of policies and bindings is not limited.
	fresh *freshness.Freshness
	// ready reports whether namespaces and policies are known.
	ready func() bool
}

// NewPlugin returns a plugin that admits everything until it is initialized. dir is the directory
// of manifest files, and empty without one.
func NewPlugin[Policy, Binding APIObject, Body any](descriptor Descriptor[Policy, Binding, Body], dir string) *Plugin[Policy, Binding, Body] {
	return &Plugin[Policy, Binding, Body]{Handler: admission.NewHandler(descriptor.Operations...), Metrics: policymetrics.For(descriptor.Name), descriptor: descriptor, dir: dir}
}

// ValidateInitialization implements admission.InitializationValidator. It loads the manifest files
// and subscribes to the informers. It returns an error if a setter was not called or a manifest
// file is invalid.
func (p *Plugin[Policy, Binding, Body]) ValidateInitialization() error {
	if p.gates == nil || !p.gates.Enabled(p.descriptor.Gate) {
		return nil
	}
	if err := p.Dependencies.ValidateInitialization(); err != nil {
		return err
	}
	engine := p.descriptor.NewEngine(&p.Dependencies)
	p.store = engine.NewStore()
	p.Metrics.Count(p.store.Counts)
	policies := p.descriptor.Policies(p.config.Informers)
	followed, err := Follow[Policy, Binding](wait.ContextForChannel(p.Stop), p.store, policies, p.descriptor.Bindings(p.config.Client), p.descriptor.SameSpec, p.Metrics)
	if err != nil {
		return err
	}
	p.waitFor(followed.Synced)
	p.limitAge(policies, followed)
	if err := p.load(engine); err != nil {
		return err
	}
	p.Metrics.CountEvaluations(p.observeEvaluations)
	if p.Features[policyspec.Lookups] {
		p.Metrics.MeasureLookups(p.Lookups().Kinds)
	}
	return nil
}

// observeEvaluations is a policymetrics.EvaluationCounter.
func (p *Plugin[Policy, Binding, Body]) observeEvaluations(observe policy.EvaluationObserver) {
	p.store.ObserveEvaluations(observe)
	if p.files != nil {
		p.files.Current().ObserveEvaluations(observe)
	}
}

// VerdictStore implements policyinit.PolicyPlugin.
func (p *Plugin[Policy, Binding, Body]) VerdictStore() (kind string, store typecheck.VerdictStore) {
	if p.store == nil {
		return p.descriptor.Name, nil
	}
	return p.descriptor.Name, p.store
}

// PoliciesSynced implements policyinit.PolicyPlugin.
func (p *Plugin[Policy, Binding, Body]) PoliciesSynced() error {
	if p.store != nil && !p.synced.Seen() && !p.ready() {
		return freshness.ErrStarting
	}
	return nil
}

// ParamsSynced implements policyinit.PolicyPlugin.
func (p *Plugin[Policy, Binding, Body]) ParamsSynced() error {
	if err := p.PoliciesSynced(); err != nil || p.store == nil {
		return err
	}
	return errors.Join(p.Params().Synced(), p.Lookups().Synced())
}

// CompileAll compiles the policies in effect that are not compiled yet, until ctx ends. A plugin
// does so in the background when it is ready. When CompileAll returns, nothing is left to compile,
// so measurements call it first.
func (p *Plugin[Policy, Binding, Body]) CompileAll(ctx context.Context) {
	if p.store != nil {
		p.store.CompileAll(ctx)
	}
}

// waitFor makes the plugin ready once namespaces and policies are known. Requests wait for that.
func (p *Plugin[Policy, Binding, Body]) waitFor(policiesSynced func() bool) {
	namespacesSynced := p.informers.Core().V1().Namespaces().Informer().HasSynced
	hasSynced := func() bool { return namespacesSynced() && policiesSynced() }
	p.ready = func() bool { return p.synced.Check(hasSynced) }
	p.SetReadyFunc(p.ready)
}

// limitAge bounds the age of the plugin's policies, bindings and params, if the server has a limit.
// While they may be older, requests fail that a policy could deny.
func (p *Plugin[Policy, Binding, Body]) limitAge(policies cache.SharedIndexInformer, followed *Followed) {
	if p.config.Freshness.Limit == 0 {
		return
	}
	p.fresh = freshness.New("admission policies", p.config.Freshness.Limit, func(ctx context.Context) error {
		if !p.ready() {
			return freshness.ErrStarting
		}
		return errors.Join(
			p.config.Freshness.Check(ctx, p.descriptor.PolicyResource, policies.LastSyncResourceVersion()),
			p.config.Freshness.Check(ctx, p.descriptor.BindingResource, followed.BindingsVersion()))
	})
	p.Metrics.MeasureAges(p.fresh.Age, p.Params().Ages)
	ctx := wait.ContextForChannel(p.Stop)
	go p.fresh.Run(klog.NewContext(ctx, klog.FromContext(ctx).WithValues("kind", p.descriptor.Name)))
}

// awaitFresh returns nil if everything that policies with failurePolicy Fail need for the request
// is recent enough. Otherwise it waits until it is, but only for a short time: then it returns an
// error.
func (p *Plugin[Policy, Binding, Body]) awaitFresh(ctx context.Context, r *matching.Request) error {
	if p.fresh.IsStale() && p.store.Snapshot().FailsClosed(r) {
		if err := p.fresh.Await(ctx); err != nil {
			return err
		}
	}
	for handle := range p.store.Snapshot().FailClosedParams(r) {
		if limited, ok := handle.(interface{ AwaitFresh(context.Context) error }); ok {
			if err := limited.AwaitFresh(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// load loads the manifest files, if there is a directory of them, and follows their changes until
// the server stops.
func (p *Plugin[Policy, Binding, Body]) load(engine Engine[Policy, Binding, Body]) (err error) {
	if p.dir == "" {
		return nil
	}
	loader := p.descriptor.Manifests(p.Features, p.config.TypeChecks)
	p.files, err = manifest.NewFiles(manifest.Options{Dir: p.dir, Plugin: p.descriptor.ManifestType, ServerID: p.id}, func(documents []upstream.FileDoc) (*policy.Snapshot[Body], error) {
		objects, err := loader.Load(documents)
		if err != nil {
			return nil, err
		}
		return engine.NewSnapshot(objects.All()...)
	})
	if err != nil {
		return fmt.Errorf("failed to load static policy manifests from %q: %w", p.dir, err)
	}
	go p.files.Follow(wait.ContextForChannel(p.Stop), pollInterval)
	return nil
}

// pollInterval is the time between two looks for changes of manifest files that the file system has
// not reported.
const pollInterval = time.Minute

// Snapshots returns the snapshots that apply to a request, and their number: first the policies of
// manifest files, then the stored policies. It returns an error until the informers of stored
// policies are synced. It also returns one if a policy that fails closed could match the request,
// and the stored policies or the params of that policy may be older than the limit. The result is
// an array to avoid an allocation.
func (p *Plugin[Policy, Binding, Body]) Snapshots(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) (snapshots [2]*policy.Snapshot[Body], n int, err error) {
	resource := a.GetResource().GroupResource()
	if p.store == nil || p.excluded.Has(resource) {
		return snapshots, 0, nil
	}
	if p.files != nil {
		snapshots[n], n = p.files.Current(), n+1
	}
	if policyspec.IsExempt(resource) {
		return snapshots, n, nil
	}
	// WaitForReady would start timers even if there is nothing to wait for.
	if !p.synced.Seen() && !p.WaitForReady() {
		return snapshots, 0, admission.NewForbidden(a, freshness.ErrStarting)
	}
	if p.fresh != nil && (p.fresh.IsStale() || p.Params().Stale()) {
		if err := p.awaitFresh(ctx, matching.NewRequest(ctx, a, objects, nil)); err != nil {
			return snapshots, 0, err
		}
	}
	stored := p.store.Snapshot()
	if p.config.Select != nil {
		stored = stored.Select(p.config.Select(ctx))
	}
	snapshots[n], n = stored, n+1
	return snapshots, n, nil
}
