// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package audit finds the objects that validating admission policies would deny, among those that
// exist already.
package audit

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"celador.io/offline/manifest"
)

// An Object is an object to audit.
type Object struct {
	*unstructured.Unstructured
	// Position is the place of the object in a file. It is empty for objects of a server.
	Position manifest.Position
}

func (o *Object) reference() Reference {
	return Reference{
		GroupVersionKind: o.GroupVersionKind(), Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), Position: o.Position,
	}
}

// named returns the object itself or, if it has only a generateName, a copy with a name.
func (o *Object) named() *unstructured.Unstructured {
	if o.GetName() != "" || o.GetGenerateName() == "" {
		return o.Unstructured
	}
	named := o.DeepCopy()
	named.SetName(o.GetGenerateName() + "xxxxx")
	return named
}

// written returns the last known time at which the object was written.
func (o *Object) written() time.Time {
	last := o.GetCreationTimestamp().Time
	for _, entry := range o.GetManagedFields() {
		if entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// An UnreadError is an error in the sequence of objects for Audit after which the sequence
// continues with other objects, such as the error of a resource that cannot be listed.
type UnreadError struct{ Err error }

func (e *UnreadError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreadError) Unwrap() error { return e.Err }

// Audit evaluates the policies over objects, several objects at a time, and holds only a few of
// them in memory. Expressions read the time of the call as request.time. An *UnreadError of the
// source becomes part of the report. Audit returns the first other error of the source, or that of
// the context. progress is called with the number of objects that were read so far; calls do not
// overlap.
func (a *Auditor) Audit(ctx context.Context, objects iter.Seq2[Object, error], progress func(read int)) (*Report, error) {
	type job struct {
		sequence int
		object   Object
	}
	// All policies read the same time, as if the audit were one request.
	ctx = request.WithReceivedTimestamp(ctx, time.Now())
	c := a.newCollector()
	jobs := make(chan job)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(jobs)
		sequence := 0
		for object, err := range objects {
			var unread *UnreadError
			if errors.As(err, &unread) {
				c.unread(unread.Err)
				continue
			}
			if err != nil {
				return err
			}
			select {
			case jobs <- job{sequence, object}:
				sequence++
				progress(sequence)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for j := range jobs {
				if err := a.evaluate(ctx, c, j.sequence, &j.object); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return c.result(), nil
}

// evaluate evaluates the policies over one object, unless none of them may apply to it. It returns
// the error of the context; other errors are part of the report.
func (a *Auditor) evaluate(ctx context.Context, c *collector, sequence int, object *Object) error {
	reference := object.reference()
	located, err := a.cluster.Locate(object.Unstructured)
	if err != nil {
		// The name of the resource is not known yet, so only the group counts here.
		if a.selects(reference.Namespace) && a.Matches(schema.GroupResource{Group: reference.Group}) {
			c.fail(sequence, reference, err)
		}
		return nil
	}
	if reference.Namespace = located.Namespace; !a.selects(reference.Namespace) || !a.Matches(located.Resource) {
		return nil
	}
	decisions, err := a.cluster.Evaluate(ctx, located, auditor)
	switch {
	case err == nil:
		c.add(sequence, reference, object.written(), decisions)
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		c.fail(sequence, reference, err)
	}
	return nil
}

// selects reports whether the objects of a namespace are audited.
func (a *Auditor) selects(namespace string) bool {
	return a.namespace == "" || a.namespace == namespace
}
