// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admissionpolicystatus keeps the status of admission policies up to date. It checks
// each policy against the types that the policy names, gives the engine its verdict, and writes
// the findings to the status (KEP-3488, "Writing to Status"). It checks a policy again when the
// policy or one of the types that it names changes.
//
// The controller runs in every process whose engine needs verdicts. All API servers write statuses,
// and other hosts leave that to a leader. docs/status.md describes the status.
package admissionpolicystatus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	eventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"celador.io/admission/panics"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus/servedtypes"
	"celador.io/apiserver/pkg/workers"
)

const (
	// concurrency is the number of policies checked at a time.
	concurrency = 5
	// slowAfter is how long a check may take before another worker is added. Checks of ordinary
	// policies take milliseconds, checks of the largest take seconds.
	slowAfter = 500 * time.Millisecond
	// maxSlow bounds the number of checks that take longer than slowAfter, and so their memory.
	maxSlow = 5

	// postponedInterval is the time between two checks of postponed policies, whose status had
	// findings when the controller started. The check of an ordinary policy takes a fraction of it.
	postponedInterval = 10 * time.Millisecond

	// typesTimeout bounds how long a check waits for types, so that servers that do not answer keep
	// no worker from other policies for longer. The check is repeated.
	typesTimeout = 10 * time.Second

	// minRetry and maxRetry are the first and the longest delay before a policy is checked again
	// after an error. The delay doubles with each attempt.
	minRetry = 5 * time.Millisecond
	maxRetry = 15 * time.Minute
	// retriesBeforeUnknown is how often a check is repeated before the status reports that types
	// are unavailable.
	retriesBeforeUnknown = 10
)

// Config holds the dependencies of a Controller, all of them safe for concurrent use.
type Config struct {
	// Kinds are the kinds of policies that the server serves.
	Kinds []*Descriptor
	// GroupVersion is the API version in which the clients of Kinds read and write policies.
	// Statuses are applied, and events refer to policies, in this version. The zero value means
	// admissionregistration.k8s.io/v1.
	GroupVersion schema.GroupVersion
	// Verdicts are the stores that receive the verdicts on policies, by the policies' kind. The
	// controller also asks stores of type policy.Store which policies and bindings have no effect,
	// and for which lookups the objects are not known.
	Verdicts map[string][]typecheck.VerdictStore
	// Events records events about policies.
	Events eventsv1.EventsV1Interface
	// CRDs reads CustomResourceDefinitions from storage, not from a cache.
	CRDs metadata.Interface
	// Types describes the types that the server serves. The caller starts its informer.
	Types servedtypes.Config
	// Checker checks expressions. The controller replaces the checker's types.
	Checker *typecheck.Checker
}

// A Controller keeps the status of policies up to date.
type Controller struct {
	kinds    []*Descriptor
	version  schema.GroupVersion
	verdicts map[string][]typecheck.VerdictStore
	crds     metadata.Interface
	types    *servedtypes.Resolver
	checker  *typecheck.Checker

	// informers are started by Run.
	informers   []informerFactory
	synced      []cache.InformerSynced
	queue       workqueue.TypedRateLimitingInterface[key]
	events      eventsv1.EventsV1Interface
	broadcaster events.EventBroadcaster
	recorder    events.EventRecorder
	// reports maps the key of each policy to its last *report.
	reports sync.Map
	// unknown maps the keys of policies to the unknownLookups that their status reports.
	unknown sync.Map
	// writing is set while WriteStatus runs.
	writing atomic.Bool
	// aggregatedChanges counts the calls of AggregatedVersionChanged.
	aggregatedChanges atomic.Int64

	lock sync.Mutex
	// postponed holds the policies of the initial list whose status had findings already, for
	// enqueuePostponed. It does not change once the informers are synced.
	postponed []key
}

// New returns a controller that is idle until Run. Call New before the informers of policies and of
// CustomResourceDefinitions start, which the caller does. It fails if an informer has already
// stopped.
func New(c Config) (*Controller, error) {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.Events})
	controller := &Controller{
		kinds:    c.Kinds,
		version:  cmp.Or(c.GroupVersion, v1.SchemeGroupVersion),
		verdicts: c.Verdicts,
		crds:     c.CRDs,
		checker:  c.Checker,
		// One change of a CustomResourceDefinition may enqueue many policies, so the queue has no
		// overall limit.
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[key](minRetry, maxRetry),
			workqueue.TypedRateLimitingQueueConfig[key]{Name: "admission_policy_status"}),
		events:      c.Events,
		broadcaster: broadcaster,
		recorder:    broadcaster.NewRecorder(nil, FieldManager),
	}
	var err error
	if controller.types, err = servedtypes.New(c.Types, controller.crdChanged); err != nil {
		return nil, err
	}
	controller.synced = []cache.InformerSynced{controller.types.HasSynced}
	for _, k := range c.Kinds {
		synced, err := k.watch(controller.queue.Add, controller.postpone)
		if err != nil {
			return nil, err
		}
		controller.synced = append(controller.synced, synced)
	}
	return controller, nil
}

// Types returns the types that the server serves.
func (c *Controller) Types() *servedtypes.Resolver { return c.types }

// postpone adds to postponed a policy of the initial list whose status has findings already, so
// that enqueuePostponed checks it later.
func (c *Controller) postpone(k key) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.postponed = append(c.postponed, k)
}

// enqueuePostponed enqueues the postponed policies that have not been checked meanwhile, one after
// the other, until ctx ends. These are the policies of the initial list whose status had findings
// already. They need a check, because the rules of this version of the server, or types, may have
// changed since the findings were recorded. But most often nothing has, and to check thousands of
// policies at once would take the processors from the first requests of a server.
func (c *Controller) enqueuePostponed(ctx context.Context) {
	ticker := time.NewTicker(postponedInterval)
	defer ticker.Stop()
	for _, k := range c.postponed {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if _, checked := c.reports.Load(k); !checked {
			c.queue.Add(k)
		}
	}
}

// Run checks policies and gives their verdicts to the engine until ctx ends. It returns when all of
// its goroutines have ended. Call it at most once.
func (c *Controller) Run(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	ctx = klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), FieldManager))
	var running sync.WaitGroup
	defer running.Wait()
	for _, factory := range c.informers {
		factory.StartWithContext(ctx)
		defer factory.Shutdown()
	}
	defer c.queue.ShutDown()
	if err := c.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Events of policies are not recorded")
	}
	defer c.broadcaster.Shutdown()
	if !cache.WaitForNamedCacheSyncWithContext(ctx, c.synced...) {
		return
	}
	countConditions(c.kinds)
	running.Go(func() { c.enqueuePostponed(ctx) })
	for _, k := range c.kinds {
		if k.lookups {
			running.Go(func() { c.followLookups(ctx, k) })
		}
	}
	pool := workers.Pool[key]{Queue: c.queue, Process: c.process, Workers: concurrency, SlowAfter: slowAfter, MaxAdded: maxSlow}
	pool.Run(ctx)
}

// WriteStatus makes Run write what it finds to the status of policies, and events, until ctx ends.
// It begins with the policies that Run has checked before. All API servers call it, since a server
// leaves a status alone to which its findings add nothing. Of other hosts, only the leader calls
// it, each time that it is elected.
func (c *Controller) WriteStatus(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	ctx = klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), FieldManager))
	c.writing.Store(true)
	defer c.writing.Store(false)
	c.reports.Range(func(k, _ any) bool {
		c.queue.Add(k.(key))
		return true
	})
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return
	}
	var running sync.WaitGroup
	for _, k := range c.kinds {
		for _, store := range c.verdicts[k.name] {
			if store, ok := store.(effectStore); ok {
				running.Go(func() { c.reportUnbound(ctx, k, store) })
			}
		}
	}
	<-ctx.Done()
	running.Wait()
}

// process syncs one policy, and requeues the policy after an error.
func (c *Controller) process(ctx context.Context, k key) {
	err := c.sync(ctx, k)
	switch {
	case err == nil:
		c.queue.Forget(k)
	case ctx.Err() != nil, errors.Is(err, errTooEarly):
	case errors.Is(err, errStaleCache), errors.Is(err, errNoSchema):
		c.queue.AddRateLimited(k)
	default:
		syncErrors.WithContext(ctx).WithLabelValues(k.descriptor.name).Inc()
		utilruntime.HandleErrorWithContext(ctx, err, "The status of a policy cannot be brought up to date, trying again", "kind", k.descriptor.name, "policy", k.name)
		c.queue.AddRateLimited(k)
	}
}

// sync checks a policy and writes its status. While types are unavailable, it writes the status
// only once the check has been repeated retriesBeforeUnknown times. The caller retries after an
// error other than errTooEarly.
func (c *Controller) sync(ctx context.Context, k key) (err error) {
	// Without this, a policy on which a check panics would crash the server at each start.
	defer func() {
		if panicked := recover(); panicked != nil {
			panics.Record(panics.Status, panicked, "kind", k.descriptor.name, "policy", k.name)
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	p, err := k.descriptor.get(k.name)
	if err != nil {
		return err
	}
	if p == nil {
		c.forget(k)
		return nil
	}
	if c.delayed(p) {
		return errTooEarly
	}
	r := c.check(ctx, p)
	if !r.unavailable() {
		if err := c.writeStatus(ctx, p, r); err != nil || !r.awaitsSchema() {
			return err
		}
		return errNoSchema
	}
	if c.queue.NumRequeues(k) >= retriesBeforeUnknown {
		err = c.writeStatus(ctx, p, r)
	}
	return errors.Join(fmt.Errorf("some types cannot be found out: %s", r.uncheckedFor(typecheck.Unavailable)), err)
}
