// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const (
	// controllerName is a label of the metrics of the work queue.
	controllerName = "DiscoveryController"

	// byGroup is the index of CRDs by spec.group.
	byGroup = "group"

	// The priorities of groups and versions are those that Kubernetes gives to CRDs.
	groupPriority   = 1000
	versionPriority = 100
)

// A Controller publishes the discovery of the CRDs in an informer. It works group by group, because
// the order of a group's versions, and which of them exist, depend on all CRDs of the group.
type Controller struct {
	crds     cache.TypedSharedIndexInformer[*apiextensionsv1.CustomResourceDefinition]
	received cache.DoneChecker
	handler  *Handler
	manager  aggregated.ResourceManager
	queue    workqueue.TypedRateLimitingInterface[string]
}

// NewController returns a controller that is idle until Run. The controller replaces the documents
// of handler, and those of manager, the aggregated discovery, unless it is nil. NewController adds
// an index to the informer, and fails if the informer has stopped or already has a controller.
func NewController(informer informers.CustomResourceDefinitionInformer, handler *Handler, manager aggregated.ResourceManager) (*Controller, error) {
	c := &Controller{
		crds:    cache.NewTypedSharedIndexInformer[*apiextensionsv1.CustomResourceDefinition](informer.Informer()),
		handler: handler,
		manager: manager,
	}
	if err := c.crds.AddTypedIndexers(informers.CustomResourceDefinitionIndexers{
		byGroup: func(crd *apiextensionsv1.CustomResourceDefinition) ([]string, error) {
			return []string{crd.Spec.Group}, nil
		},
	}); err != nil {
		return nil, fmt.Errorf("indexing CustomResourceDefinitions by group: %w", err)
	}
	c.queue = workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: controllerName})
	registration, err := c.crds.AddTypedEventHandler(informers.CustomResourceDefinitionHandlerFuncs{
		AddFunc: c.enqueue,
		// The group of a CRD never changes.
		UpdateFunc: func(_, crd *apiextensionsv1.CustomResourceDefinition) { c.enqueue(crd) },
		DeleteFunc: c.enqueueDeleted,
	})
	if err != nil {
		c.queue.ShutDown()
		return nil, fmt.Errorf("watching CustomResourceDefinitions for discovery: %w", err)
	}
	c.received = registration.HasSyncedChecker()
	return c, nil
}

func (c *Controller) enqueue(crd *apiextensionsv1.CustomResourceDefinition) {
	c.queue.Add(crd.Spec.Group)
}

func (c *Controller) enqueueDeleted(deleted informers.DeletedCustomResourceDefinition) {
	// An event of a deletion may lack the object, but not its name, which is <plural>.<group>. The
	// plural contains no dot.
	_, group, _ := strings.Cut(deleted.GetName(), ".")
	c.queue.Add(group)
}

// Run publishes discovery until ctx ends. It closes synced when the discovery of all CRDs that the
// informer listed at first is published. Call it once.
func (c *Controller) Run(ctx context.Context, synced chan<- struct{}) {
	defer utilruntime.HandleCrashWithContext(ctx)
	ctx = klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), controllerName))
	context.AfterFunc(ctx, c.queue.ShutDown)
	klog.FromContext(ctx).Info("Starting controller")
	defer klog.FromContext(ctx).Info("Shutting down controller")

	if !cache.WaitFor(ctx, "CustomResourceDefinitions", c.received) || !c.syncAll(ctx) {
		return
	}
	close(synced)
	// One worker is enough, because CRDs change rarely.
	for c.processNext(ctx) {
	}
}

// syncAll syncs all groups until none fails. It returns false if ctx ends before.
func (c *Controller) syncAll(ctx context.Context) bool {
	return nil == wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		for _, group := range c.crds.GetIndexer().ListIndexFuncValues(byGroup) {
			if err := c.sync(ctx, group); err != nil {
				reportRetry(ctx, group, err)
				return false, nil
			}
		}
		return true, nil
	})
}

// processNext waits for a group and syncs it. It returns false when the queue has shut down.
func (c *Controller) processNext(ctx context.Context) bool {
	group, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(group)
	if err := c.sync(ctx, group); err != nil {
		reportRetry(ctx, group, err)
		c.queue.AddRateLimited(group)
		return true
	}
	c.queue.Forget(group)
	return true
}

func reportRetry(ctx context.Context, group string, err error) {
	utilruntime.HandleErrorWithContext(ctx, err, "Discovery of custom resources cannot be published, trying again", "group", group)
}

// sync publishes the discovery of a group.
func (c *Controller) sync(ctx context.Context, group string) error {
	crds, err := c.crds.GetTypedIndexer().ByTypedIndex(byGroup, group)
	if err != nil {
		return err
	}
	current := NewGroup(group, crds)
	previous := c.handler.Replace(group, current)
	klog.FromContext(ctx).V(4).Info("Published discovery", "group", group, "crds", len(crds))
	if c.manager != nil {
		c.aggregate(group, previous, current)
	}
	return nil
}

// aggregate updates the aggregated documents of a group. Each call of the resource manager encodes
// the documents of all groups again, so it is called only for versions that differ. Most updates of
// CRDs change conditions, which discovery does not show.
func (c *Controller) aggregate(group string, previous, current *Group) {
	switch {
	case previous == nil && current == nil:
		return
	case current == nil:
		c.manager.RemoveGroup(group)
		return
	case previous == nil:
		previous = &Group{}
	}
	for _, v := range current.APIGroup.Versions {
		version := current.Versions[v.Version]
		if !reflect.DeepEqual(previous.Versions[v.Version], version) {
			c.manager.AddGroupVersion(group, version.Aggregated)
			c.manager.SetGroupVersionPriority(metav1.GroupVersion{Group: group, Version: v.Version}, groupPriority, versionPriority)
		}
	}
	// Old versions are removed after new ones are added. If a group lost its only version first, it
	// would be absent until it got another.
	for _, v := range previous.APIGroup.Versions {
		if _, kept := current.Versions[v.Version]; !kept {
			c.manager.RemoveGroupVersion(metav1.GroupVersion{Group: group, Version: v.Version})
		}
	}
}
