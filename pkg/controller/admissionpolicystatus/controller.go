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
	"k8s.io/apimachinery/pkg/util/wait"
	eventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"celador.io/admission/expression"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"
	policyinformers "celador.io/client-go/informers/admissionregistration/v1"

	"celador.io/celador/pkg/controller/admissionpolicystatus/servedtypes"
)

// workers is how many policies are checked at a time.
const workers = 5

// After an error a policy is checked again, first soon and then later and later.
const (
	minRetry = 5 * time.Millisecond
	maxRetry = 15 * time.Minute
)

// Config is what the controller needs. All of it is safe for concurrent use.
type Config struct {
	// Client reads policies and writes their status.
	Client clientset.Interface
	// Events records what happens to policies.
	Events eventsv1.EventsV1Interface
	// Definitions reads custom resource definitions from where they are stored.
	Definitions metadata.Interface
	// Types are those that the server serves. Its informer is started by others.
	Types servedtypes.Config
	// Checker checks expressions. Its own sources of types are not used.
	Checker *typecheck.Checker
	// Compiler should be that of the admission plugin, whose programs it shares.
	Compiler *expression.Compiler
	// EnforceTypes has spec.typeChecking observed: with Enforced, a policy with type errors
	// is not available.
	EnforceTypes bool
}

// Controller keeps the status of policies current.
type Controller struct {
	client       clientset.Interface
	definitions  metadata.Interface
	types        *servedtypes.Source
	checker      *typecheck.Checker
	compiler     *expression.Compiler
	enforceTypes bool
	listeners    []Listener

	policies    cache.SharedIndexInformer
	synced      []cache.InformerSynced
	queue       workqueue.TypedRateLimitingInterface[string]
	broadcaster events.EventBroadcaster
	recorder    events.EventRecorder
	// outcomes has the last *outcome of each policy, by name.
	outcomes sync.Map
	// elsewhere counts the changes of what other servers serve.
	elsewhere atomic.Int64
}

// New returns a controller that does nothing until Run. It must be called before the
// informer of custom resource definitions starts; the error is one of that informer.
func New(c Config, listeners ...Listener) (*Controller, error) {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.Events})
	controller := &Controller{
		client:       c.Client,
		definitions:  c.Definitions,
		checker:      c.Checker,
		compiler:     c.Compiler,
		enforceTypes: c.EnforceTypes,
		listeners:    listeners,
		policies:     policyinformers.NewValidatingAdmissionPolicyInformer(c.Client, 0, cache.Indexers{byGroup: groupsOf}),
		// Many policies may wait for one definition, so they do not share a limit.
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](minRetry, maxRetry),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "admission_policy_status"}),
		broadcaster: broadcaster,
		recorder:    broadcaster.NewRecorder(nil, FieldManager),
	}
	var err error
	if controller.types, err = servedtypes.New(c.Types, controller.enqueueAffected); err != nil {
		return nil, err
	}
	registration, err := controller.policies.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    controller.enqueue,
		UpdateFunc: func(_, current any) { controller.enqueue(current) },
		DeleteFunc: controller.enqueue,
	})
	if err = errors.Join(err, controller.policies.SetTransform(compact)); err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	controller.synced = []cache.InformerSynced{registration.HasSynced, controller.types.HasSynced}
	return controller, nil
}

func (c *Controller) enqueue(object any) {
	name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		utilruntime.HandleError(fmt.Errorf("change of a policy: %w", err))
		return
	}
	c.queue.Add(name)
}

// enqueueAffected has the policies checked that a definition concerns.
func (c *Controller) enqueueAffected(crd *apiextensionsv1.CustomResourceDefinition) {
	c.enqueueWhere(crd.Spec.Group, func(policy *v1.ValidatingAdmissionPolicy) bool { return affects(crd, policy) })
}

// enqueueWhere has those policies checked that name the group and are concerned.
func (c *Controller) enqueueWhere(group string, concerned func(*v1.ValidatingAdmissionPolicy) bool) {
	policies, err := c.policies.GetIndexer().ByIndex(byGroup, group)
	if err != nil {
		utilruntime.HandleError(fmt.Errorf("change of types of group %q: %w", group, err))
		return
	}
	for _, object := range policies {
		if policy := object.(*v1.ValidatingAdmissionPolicy); concerned(policy) {
			c.queue.Add(policy.Name)
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
	running.Go(func() { c.policies.RunWithContext(ctx) })
	if err := c.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Events of policies are not recorded")
	}
	defer c.broadcaster.Shutdown()
	if !cache.WaitForNamedCacheSyncWithContext(ctx, c.synced...) {
		return
	}
	count(c.policies.GetIndexer())
	for range workers {
		running.Go(func() {
			wait.UntilWithContext(ctx, func(ctx context.Context) {
				for c.next(ctx) {
				}
			}, time.Second)
		})
	}
	<-ctx.Done()
}

// next handles one policy. It returns false when there will be no more.
func (c *Controller) next(ctx context.Context) bool {
	name, ended := c.queue.Get()
	if ended {
		return false
	}
	defer c.queue.Done(name)
	err := c.sync(ctx, name)
	switch {
	case err == nil:
		c.queue.Forget(name)
	case ctx.Err() != nil:
	case errors.Is(err, errBehind), errors.Is(err, errUndescribed):
		c.queue.AddRateLimited(name)
	default:
		syncErrors.WithContext(ctx).WithLabelValues(policyKind).Inc()
		utilruntime.HandleErrorWithContext(ctx, err, "The status of a policy cannot be brought up to date, trying again", "policy", name)
		c.queue.AddRateLimited(name)
	}
	return true
}
