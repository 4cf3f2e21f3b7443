// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clientv1 "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"

	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
)

// objectsReadable is the type of the condition that is False while stored objects do not convert. A
// CustomResourceDefinition that never had such objects has no such condition.
const objectsReadable apiextensionsv1.CustomResourceDefinitionConditionType = "ObjectsReadable"

// unreadable publishes how many stored objects of each CustomResourceDefinition do not convert to
// other versions, in a metric and in the condition ObjectsReadable.
type unreadable struct {
	lister listers.CustomResourceDefinitionLister
	client clientv1.CustomResourceDefinitionInterface
	queue  workqueue.TypedRateLimitingInterface[string]

	mu sync.Mutex
	// latest holds, by the name of the CustomResourceDefinition, the counts that its condition must
	// show.
	latest map[string]unreadableCounts
}

// unreadableCounts holds the numbers of stored objects that do not convert, for one generation of a
// CustomResourceDefinition. versions has a number for each version to which at least one object
// does not convert.
type unreadableCounts struct {
	uid        types.UID
	generation int64
	versions   map[string]int
}

func newUnreadable(lister listers.CustomResourceDefinitionLister, client clientv1.CustomResourceDefinitionInterface) *unreadable {
	return &unreadable{
		lister: lister, client: client, latest: map[string]unreadableCounts{},
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, time.Minute),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "crd_unreadable_objects"}),
	}
}

// report records the numbers of objects that do not convert to each version, for a generation of a
// CustomResourceDefinition. It ignores numbers for an earlier generation.
func (u *unreadable) report(crd *apiextensionsv1.CustomResourceDefinition, versions map[string]int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	known, ok := u.latest[crd.Name]
	switch {
	case ok && known.uid == crd.UID && known.generation > crd.Generation:
		return
	case !ok && len(versions) == 0 && apihelpers.FindCRDCondition(crd, objectsReadable) == nil:
		return
	}
	u.latest[crd.Name] = unreadableCounts{crd.UID, crd.Generation, versions}
	serving.RecordUnreadable(crd.Name, versions)
	u.queue.Add(crd.Name)
}

// run updates conditions until ctx ends.
func (u *unreadable) run(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	go func() {
		<-ctx.Done()
		u.queue.ShutDown()
	}()
	for {
		name, stop := u.queue.Get()
		if stop {
			return
		}
		if err := u.update(ctx, name); err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Failed to update the condition about custom resources that do not convert", "customResourceDefinition", name)
			u.queue.AddRateLimited(name)
		} else {
			u.queue.Forget(name)
		}
		u.queue.Done(name)
	}
}

// update writes the condition with the latest counts to the status, if it differs.
func (u *unreadable) update(ctx context.Context, name string) error {
	crd, err := u.lister.Get(name)
	if apierrors.IsNotFound(err) {
		u.forget(name)
		return nil
	}
	if err != nil {
		return err
	}
	u.mu.Lock()
	counts, ok := u.latest[name]
	u.mu.Unlock()
	if !ok || counts.uid != crd.UID || counts.generation < crd.Generation {
		return nil
	}
	condition := conditionOf(counts.versions)
	existing := apihelpers.FindCRDCondition(crd, objectsReadable)
	switch {
	case existing == nil && condition.Status == apiextensionsv1.ConditionTrue:
		return nil
	case existing != nil && existing.Status == condition.Status && existing.Message == condition.Message:
		return nil
	}
	updated := crd.DeepCopy()
	apihelpers.SetCRDCondition(updated, condition)
	_, err = u.client.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (u *unreadable) forget(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.latest, name)
}

// conditionOf returns the condition for the numbers of objects that do not convert to each version.
// It names no objects, because whoever may read the CustomResourceDefinition need not be allowed to
// read these.
func conditionOf(counts map[string]int) apiextensionsv1.CustomResourceDefinitionCondition {
	if len(counts) == 0 {
		return apiextensionsv1.CustomResourceDefinitionCondition{
			Type: objectsReadable, Status: apiextensionsv1.ConditionTrue, Reason: "AllConvert",
			Message: "all stored objects convert to all versions",
		}
	}
	var versions []string
	for version, count := range counts {
		objects := "1 object does"
		if count != 1 {
			objects = fmt.Sprintf("%d objects do", count)
		}
		versions = append(versions, fmt.Sprintf("%s not convert to %s", objects, version))
	}
	slices.Sort(versions)
	return apiextensionsv1.CustomResourceDefinitionCondition{
		Type: objectsReadable, Status: apiextensionsv1.ConditionFalse, Reason: "ConversionFailed",
		Message: strings.Join(versions, ", ") + ": requests in these versions that read them fail; correct the rules, or the objects in the version in which they are stored",
	}
}
