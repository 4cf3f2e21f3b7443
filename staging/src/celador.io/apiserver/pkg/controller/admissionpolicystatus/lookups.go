// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/typecheck"
)

// lookupInterval is the time between two searches for lookups whose objects are not known. The
// status reports a lookup only if two searches in a row find it: the objects of most kinds are
// known some milliseconds after a policy comes into effect, and requests wait for them for as long
// as the interval.
const lookupInterval = time.Second

// A lookupStore is a verdict store that knows the lookups of the policies in effect.
type lookupStore interface {
	// UnknownLookups calls observe for each lookup whose objects, or the keys of its index, are not
	// known, with the reason. lookup is the position of the lookup in spec.lookups.
	UnknownLookups(observe func(policy string, uid types.UID, generation int64, lookup int, reason error))
}

// unknownLookups are lookups of one generation of a policy whose objects are not known. Immutable.
type unknownLookups struct {
	uid        types.UID
	generation int64
	// lookups are sorted by position.
	lookups []unknownLookup
}

// An unknownLookup has the position of a lookup in spec.lookups, and the reason why its objects are
// not known.
type unknownLookup struct {
	position int
	reason   error
}

func samePosition(a, b unknownLookup) bool { return a.position == b.position }

// both returns the lookups of u that other has, too.
func (u unknownLookups) both(other unknownLookups) unknownLookups {
	if u.uid != other.uid || u.generation != other.generation {
		return unknownLookups{}
	}
	u.lookups = slices.DeleteFunc(slices.Clone(u.lookups), func(l unknownLookup) bool {
		return !slices.ContainsFunc(other.lookups, func(o unknownLookup) bool { return samePosition(l, o) })
	})
	return u
}

// followLookups enqueues the policies of a kind whose unknown lookups change, until ctx ends.
func (c *Controller) followLookups(ctx context.Context, k *Descriptor) {
	ticker := time.NewTicker(lookupInterval)
	defer ticker.Stop()
	last := map[string]unknownLookups{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			last = c.lookForUnknown(k, last)
		}
	}
}

// lookForUnknown returns the lookups of each policy whose objects are not known now. last is the
// result of the previous call. Lookups that are in both become the unknown lookups that check
// reports, and policies for which these have changed are enqueued (setUnknown).
func (c *Controller) lookForUnknown(k *Descriptor, last map[string]unknownLookups) map[string]unknownLookups {
	now := map[string]unknownLookups{}
	for _, store := range c.verdicts[k.name] {
		store, ok := store.(lookupStore)
		if !ok {
			continue
		}
		store.UnknownLookups(func(policy string, uid types.UID, generation int64, lookup int, reason error) {
			u := now[policy]
			now[policy] = unknownLookups{uid, generation, append(u.lookups, unknownLookup{lookup, reason})}
		})
	}
	for name, u := range now {
		slices.SortFunc(u.lookups, func(a, b unknownLookup) int { return cmp.Compare(a.position, b.position) })
		c.setUnknown(key{k, name}, u.both(last[name]))
	}
	for name := range last {
		if _, still := now[name]; !still {
			c.setUnknown(key{k, name}, unknownLookups{})
		}
	}
	return now
}

// setUnknown sets the unknown lookups that check reports for a policy, and enqueues the policy if
// other lookups are unknown than before. It ignores changes of the reasons, which may be frequent,
// and keeps the first reasons.
func (c *Controller) setUnknown(k key, u unknownLookups) {
	var before unknownLookups
	if known, ok := c.unknown.Load(k); ok {
		before = known.(unknownLookups)
	}
	switch {
	case u.uid == before.uid && u.generation == before.generation && slices.EqualFunc(u.lookups, before.lookups, samePosition):
		return
	case len(u.lookups) == 0:
		c.unknown.Delete(k)
	default:
		c.unknown.Store(k, u)
	}
	if len(u.lookups) > 0 || len(before.lookups) > 0 {
		c.queue.Add(k)
	}
}

// unknownLookups returns the unknown lookups of this generation of a policy.
func (c *Controller) unknownLookups(p *policy) []unknownLookup {
	if known, ok := c.unknown.Load(p.key()); ok {
		if u := known.(unknownLookups); u.uid == p.UID && u.generation == p.Generation {
			return u.lookups
		}
	}
	return nil
}

// lookupErrors returns an error for the lookups whose objects are not known, or nil. It leaves out
// those of kinds that the server does not serve, which notFound reports.
func (r *report) lookupErrors() error {
	var errs []error
	for _, l := range r.lookups {
		path := field.NewPath("spec", "lookups").Index(l.position).String()
		if !slices.ContainsFunc(r.unchecked, func(u typecheck.Unchecked) bool { return u.Field == path && u.Reason == typecheck.UnknownKind }) {
			errs = append(errs, fmt.Errorf("%s: %w", path, l.reason))
		}
	}
	return errors.Join(errs...)
}
