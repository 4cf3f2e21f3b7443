// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus/servedtypes"
)

// FieldManager is the field manager of the status, on all servers and in all versions.
const FieldManager = "admission-policy-status"

// errStaleCache requeues a policy whose check may be based on outdated CustomResourceDefinitions.
var errStaleCache = errors.New("custom resource definitions have changed")

var crdResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// writeStatus writes the report to the status while WriteStatus runs, if the report supersedes the
// recorded status.
func (c *Controller) writeStatus(ctx context.Context, p *policy, r *report) error {
	if !c.writing.Load() {
		return nil
	}
	conditions := r.conditions(p)
	supersedes, customResources, err := c.supersedes(ctx, p, r, conditions)
	if err != nil {
		return err
	}
	if !supersedes {
		r.unrecorded, r.initial = false, false
		return nil
	}
	// The generated apply configuration omits empty lists, so that a list of another field manager
	// would stay in the status.
	status := map[string]any{
		"observedGeneration": p.Generation,
		"typeChecking":       map[string]any{"expressionWarnings": r.warnings},
		"conditions":         conditions,
	}
	if len(customResources) > 0 {
		status["observedCustomResources"] = customResources
	}
	written, err := c.apply(ctx, p, status)
	if written {
		r.unrecorded, r.initial = false, false
		c.recordAvailable(p, meta.FindStatusCondition(conditions, v1.PolicyConditionAvailable))
		c.recordTypeErrors(p, r)
	}
	return err
}

// apply writes the status by server-side apply, provided that the policy is unchanged since p was
// read. It reports whether it wrote the status. If the policy has changed or is deleted, apply
// returns false and no error: the informer's event causes another check.
func (c *Controller) apply(ctx context.Context, p *policy, status map[string]any) (bool, error) {
	configuration, err := json.Marshal(map[string]any{
		"apiVersion": c.version.String(),
		"kind":       p.descriptor.name,
		"metadata":   map[string]any{"name": p.Name, "uid": p.UID, "resourceVersion": p.ResourceVersion},
		"status":     status,
	})
	if err != nil {
		return false, err
	}
	err = p.descriptor.apply(ctx, p.Name, configuration)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("writing the status: %w", err)
	}
	return true, nil
}

// recordAvailable records an event if the policy has become available or unavailable. Only the
// server that wrote the status calls it.
func (c *Controller) recordAvailable(p *policy, available *metav1.Condition) {
	before := meta.FindStatusCondition(p.status.Conditions, v1.PolicyConditionAvailable)
	isTrue := available.Status == metav1.ConditionTrue
	if before == nil && isTrue || before != nil && before.Status == available.Status {
		return
	}
	eventType, note := corev1.EventTypeWarning, available.Message
	if isTrue {
		eventType, note = corev1.EventTypeNormal, "The policy can decide as written"
	}
	c.record(p, eventType, available.Reason, note)
}

// recordTypeErrors records an event if the policy has type errors that has() does not guard
// against, unless the status already reported type errors of this generation. Only the server that
// wrote the status calls it, so that there is one event and not one for each server.
func (c *Controller) recordTypeErrors(p *policy, r *report) {
	before := meta.FindStatusCondition(p.status.Conditions, v1.PolicyConditionTypeChecked)
	known := before != nil && before.Status == metav1.ConditionFalse && before.ObservedGeneration == p.Generation
	if r.note != "" && !known {
		c.record(p, corev1.EventTypeWarning, v1.PolicyReasonTypeErrors, r.note)
	}
}

// checkAction is the action of all events.
const checkAction = "CheckPolicy"

// record records an event about a policy.
func (c *Controller) record(p *policy, eventType, reason, note string) {
	regarding := c.referenceTo(p, p.descriptor.name)
	c.recorder.Eventf(&regarding, nil, eventType, reason, checkAction, "%s", typecheck.Truncate(note, maxNote))
}

// referenceTo returns a reference to a policy or binding, for the events about it.
func (c *Controller) referenceTo(object metav1.Object, kind string) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: c.version.String(), Kind: kind, Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
	}
}

// supersedes reports whether the report's conditions supersede the recorded status, and returns
// the custom resources to record with them. It returns errStaleCache if the cache of
// CustomResourceDefinitions may be outdated.
//
// A status is written only on forward progress (KEP-3488, "Writing to Status"): the generation of
// the policy or a custom resource is newer than recorded, and none is older. For equal generations,
// servers of different versions may have different findings; a server then overwrites the recorded
// status only if its conditions are better. So every write is a step up, and writing ends.
//
// Two changes have no generation to record: those of the types of aggregated servers, and those
// that a server of Kubernetes makes to a spec by dropping Celador's fields, which leaves the
// generation as it is. A server that notices such a change writes its findings once. So does a
// server that may have missed a change of a spec before it started.
func (c *Controller) supersedes(ctx context.Context, p *policy, r *report, conditions []metav1.Condition) (bool, []v1.ObservedCustomResource, error) {
	recorded := &p.status
	oldest, newest := observedGenerations(recorded)
	if newest > p.Generation {
		return false, nil, nil
	}
	// first is set if no controller like this one has checked this generation. Either none has
	// checked it at all, or only Kubernetes' status controller, which writes neither conditions nor
	// custom resources.
	first := oldest < p.Generation
	forward := first || better(conditions, recorded.Conditions) || warningsTakenOver(p) ||
		r.unrecorded && !r.unavailable() && differs(recorded, r, conditions) ||
		r.initial && contradicts(recorded, r, conditions)

	unmatched := map[schema.GroupVersionKind]v1.ObservedCustomResource{}
	for _, before := range recorded.ObservedCustomResources {
		unmatched[schema.GroupVersionKind{Group: before.Group, Version: before.Version, Kind: before.Kind}] = before
	}
	var observed []v1.ObservedCustomResource
	for _, now := range r.customResources {
		if now.Kind == "" {
			continue // a resource without a CustomResourceDefinition has no kind to record
		}
		before, known := unmatched[now.GroupVersionKind]
		delete(unmatched, now.GroupVersionKind)
		observed = append(observed, v1.ObservedCustomResource{Group: now.Group, Version: now.Version, Kind: now.Kind, Generation: now.Generation, UID: now.UID})
		switch {
		case known && before.UID == now.UID && before.Generation > now.Generation:
			return false, nil, nil
		case known && before.UID == now.UID:
			forward = forward || before.Generation < now.Generation
		case known || !first:
			if err := c.confirmNewer(ctx, now, before); err != nil {
				return false, nil, err
			}
			forward = true
		}
	}
	for kind, before := range unmatched {
		now := c.types.Find(kind)
		switch {
		case first: // recorded for another generation of the policy
		case before.UID == "" || before.UID == now.UID:
			// Keep the record: another version of the server looks up this custom resource for the
			// policy, and this version does not.
			observed = append(observed, before)
		default:
			if err := c.confirmNewer(ctx, now, before); err != nil {
				return false, nil, err
			}
			forward = true
		}
	}
	slices.SortFunc(observed, func(a, b v1.ObservedCustomResource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	return forward, observed, nil
}

// observedGenerations returns the oldest and the newest generation of the policy that the status
// and its conditions observed. A missing condition counts as 0.
func observedGenerations(status *v1.ValidatingAdmissionPolicyStatus) (oldest, newest int64) {
	oldest, newest = status.ObservedGeneration, status.ObservedGeneration
	for _, name := range []string{v1.PolicyConditionAvailable, v1.PolicyConditionTypeChecked} {
		var observed int64
		if condition := meta.FindStatusCondition(status.Conditions, name); condition != nil {
			observed = condition.ObservedGeneration
		}
		oldest, newest = min(oldest, observed), max(newest, observed)
	}
	return oldest, newest
}

// better reports whether conditions a are better than conditions b for the same generations: True
// and False are better than Unknown, and for Available, True is better than False. So a server that
// is older, or that cannot reach an aggregated server, does not overwrite the findings of one that
// can.
func better(a, b []metav1.Condition) bool {
	known := []metav1.ConditionStatus{metav1.ConditionUnknown, metav1.ConditionFalse, metav1.ConditionTrue}
	rank := func(conditions []metav1.Condition, name string) int {
		if condition := meta.FindStatusCondition(conditions, name); condition != nil {
			return slices.Index(known, condition.Status)
		}
		return -1
	}
	const available, checked = v1.PolicyConditionAvailable, v1.PolicyConditionTypeChecked
	return cmp.Or(
		cmp.Compare(rank(a, available), rank(b, available)),
		cmp.Compare(min(rank(a, checked), 1), min(rank(b, checked), 1)),
	) > 0
}

// differs reports whether the recorded status has other conditions or warnings than the report.
func differs(recorded *v1.ValidatingAdmissionPolicyStatus, r *report, conditions []metav1.Condition) bool {
	for _, condition := range conditions {
		before := meta.FindStatusCondition(recorded.Conditions, condition.Type)
		if before == nil || before.Status != condition.Status || before.Reason != condition.Reason || before.Message != condition.Message {
			return true
		}
	}
	return recorded.TypeChecking == nil || !slices.Equal(recorded.TypeChecking.ExpressionWarnings, r.warnings)
}

// contradicts reports whether the report differs from the recorded status in more than its texts:
// conditions have another status, or there are type errors in other fields.
func contradicts(recorded *v1.ValidatingAdmissionPolicyStatus, r *report, conditions []metav1.Condition) bool {
	for _, condition := range conditions {
		if before := meta.FindStatusCondition(recorded.Conditions, condition.Type); before == nil || before.Status != condition.Status {
			return true
		}
	}
	var warnings []v1.ExpressionWarning
	if recorded.TypeChecking != nil {
		warnings = recorded.TypeChecking.ExpressionWarnings
	}
	return !slices.EqualFunc(warnings, r.warnings, func(a, b v1.ExpressionWarning) bool { return a.FieldRef == b.FieldRef })
}

var warningsPath = fieldpath.MakePathOrDie("status", "typeChecking", "expressionWarnings")

// warningsTakenOver reports whether another field manager owns the warnings and the controller does
// not: the controller must then write its warnings again. A status controller of Kubernetes in the
// same cluster replaces the warnings once for each generation of a policy.
func warningsTakenOver(p *policy) bool {
	others := false
	for _, entry := range p.ManagedFields {
		if entry.FieldsV1 == nil {
			continue
		}
		var owned fieldpath.Set
		if err := owned.FromJSON(entry.FieldsV1.GetRawReader()); err != nil || !owned.Has(warningsPath) {
			continue
		}
		if entry.Manager == FieldManager {
			return false
		}
		others = true
	}
	return others
}

// confirmNewer returns nil if now, the cached state of a custom resource, is newer than before, its
// state in the recorded status, and errStaleCache if the cache may be outdated. The two states have
// different CustomResourceDefinitions, whose generations do not compare, or one has none. So
// confirmNewer asks the API server whether now is the stored state, unless the
// CustomResourceDefinition of before is known to be deleted.
func (c *Controller) confirmNewer(ctx context.Context, now servedtypes.CustomResourceType, before v1.ObservedCustomResource) error {
	if before.UID != "" && c.types.Deleted(before.UID) {
		return nil
	}
	stored, err := c.isStored(ctx, now)
	if err != nil {
		return fmt.Errorf("reading custom resource definitions: %w", err)
	}
	if !stored || !c.types.Same(now) {
		return errStaleCache
	}
	return nil
}

// isStored reports whether the cached state of a custom resource is the stored state.
func (c *Controller) isStored(ctx context.Context, cached servedtypes.CustomResourceType) (bool, error) {
	client := c.crds.Resource(crdResource)
	if cached.Exists() {
		stored, err := client.Get(ctx, cached.CRD, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil && stored.UID == cached.UID && stored.Generation == cached.Generation, err
	}
	// The cache has no established CustomResourceDefinition for the kind. Neither the name nor the
	// metadata of a stored one tells its kind or whether it is established, so any one of the group
	// may be newer than the cache. The cache is current if it has the stored version of each.
	stored, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(stored.Items, func(crd metav1.PartialObjectMetadata) bool {
		return strings.HasSuffix(crd.Name, "."+cached.Group) && c.types.CRDVersion(crd.Name) != crd.ResourceVersion
	}), nil
}
