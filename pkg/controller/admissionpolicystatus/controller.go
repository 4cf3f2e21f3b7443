// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admissionpolicystatus keeps the status of policies current: it checks every
// policy against the types that it names, whenever the policy or one of its custom
// resources changes, and says what it found (KEP-3488, "Writing to Status").
//
// It runs in every kube-apiserver. See docs/status.md for what the status says.
package admissionpolicystatus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	eventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"celador.io/admission/typecheck"

	"celador.io/celador/pkg/controller/admissionpolicystatus/servedtypes"
	"celador.io/celador/pkg/workers"
)

const (
	// concurrency is the number of policies checked at a time.
	concurrency = 5
	// slowAfter is how long a check may take before another worker is added. Checks of ordinary
	// policies take milliseconds, checks of the largest take seconds.
	slowAfter = 500 * time.Millisecond
	// maxSlow bounds the number of checks that take longer than slowAfter, and so their memory.
	maxSlow = 5
)

// After an error a policy is checked again, first soon and then later and later.
const (
	minRetry = 5 * time.Millisecond
	maxRetry = 15 * time.Minute
)

// Config is what the controller needs. All of it is safe for concurrent use.
type Config struct {
	// Kinds are those that the server serves.
	Kinds []*Kind
	// Events records what happens to policies.
	Events eventsv1.EventsV1Interface
	// Definitions reads custom resource definitions from where they are stored.
	Definitions metadata.Interface
	// Types are those that the server serves. Its informer is started by others.
	Types servedtypes.Config
	// Checker checks expressions. Its own sources of types are not used.
	Checker *typecheck.Checker
}

// Controller keeps the status of policies current.
type Controller struct {
	kinds       []*Kind
	definitions metadata.Interface
	types       *servedtypes.Source
	checker     *typecheck.Checker
	listeners   []Listener

	synced      []cache.InformerSynced
	queue       workqueue.TypedRateLimitingInterface[key]
	broadcaster events.EventBroadcaster
	recorder    events.EventRecorder
	// outcomes has the last *outcome of each policy, by key.
	outcomes sync.Map
	// elsewhere counts the changes of what other servers serve.
	elsewhere atomic.Int64
}

// New returns a controller that does nothing until Run. It must be called before the
// informer of custom resource definitions starts; the error is one of that informer.
func New(c Config, listeners ...Listener) (*Controller, error) {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.Events})
	controller := &Controller{
		kinds:       c.Kinds,
		definitions: c.Definitions,
		checker:     c.Checker,
		listeners:   listeners,
		// Many policies may wait for one definition, so they do not share a limit.
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[key](minRetry, maxRetry),
			workqueue.TypedRateLimitingQueueConfig[key]{Name: "admission_policy_status"}),
		broadcaster: broadcaster,
		recorder:    broadcaster.NewRecorder(nil, FieldManager),
	}
	var err error
	if controller.types, err = servedtypes.New(c.Types, controller.enqueueAffected); err != nil {
		return nil, err
	}
	controller.synced = []cache.InformerSynced{controller.types.HasSynced}
	for _, k := range c.Kinds {
		synced, err := k.follow(controller.queue.Add)
		if err != nil {
			return nil, err
		}
		controller.synced = append(controller.synced, synced)
	}
	return controller, nil
}

// enqueueAffected has the policies checked that a definition concerns.
func (c *Controller) enqueueAffected(crd *apiextensionsv1.CustomResourceDefinition) {
	c.enqueueWhere(crd.Spec.Group, func(p *policy) bool { return p.affectedBy(crd) })
}

// enqueueWhere has those policies checked that name the group and are concerned.
func (c *Controller) enqueueWhere(group string, concerned func(*policy) bool) {
	for _, k := range c.kinds {
		objects, err := k.informer.GetIndexer().ByIndex(byGroup, group)
		if err != nil {
			utilruntime.HandleError(fmt.Errorf("change of types of group %q: %w", group, err))
			continue
		}
		for _, object := range objects {
			if p := k.view(object); concerned(p) {
				c.queue.Add(p.key())
			}
		}
	}
}

// Run checks policies until ctx ends, and returns when nothing of the controller runs any
// more. It may be called once.
func (c *Controller) Run(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	ctx = klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), FieldManager))
	var running sync.WaitGroup
	defer running.Wait()
	defer c.queue.ShutDown()
	for _, k := range c.kinds {
		running.Go(func() { k.informer.RunWithContext(ctx) })
	}
	if err := c.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Events of policies are not recorded")
	}
	defer c.broadcaster.Shutdown()
	if !cache.WaitForNamedCacheSyncWithContext(ctx, c.synced...) {
		return
	}
	count(c.kinds)
	pool := workers.Pool[key]{Queue: c.queue, Process: c.process, Workers: concurrency, SlowAfter: slowAfter, MaxAdded: maxSlow}
	pool.Run(ctx)
}

// process checks one policy and writes its status. It requeues the policy after an error.
func (c *Controller) process(ctx context.Context, k key) {
	err := c.sync(ctx, k)
	switch {
	case err == nil:
		c.queue.Forget(k)
	case ctx.Err() != nil:
	case errors.Is(err, errBehind), errors.Is(err, errUndescribed):
		c.queue.AddRateLimited(k)
	default:
		syncErrors.WithContext(ctx).WithLabelValues(k.kind.name).Inc()
		utilruntime.HandleErrorWithContext(ctx, err, "The status of a policy cannot be brought up to date, trying again", "kind", k.kind.name, "policy", k.name)
		c.queue.AddRateLimited(k)
	}
}
