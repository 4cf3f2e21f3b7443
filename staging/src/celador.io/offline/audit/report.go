// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"cmp"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/admission/validating"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/manifest"
)

// A Report is the result of an audit. The caller owns it.
type Report struct {
	// Objects is the number of objects that were evaluated.
	Objects int
	// Policies has an entry for each policy and each of its bindings, sorted by name and binding.
	Policies []PolicyResult
	// Unevaluated are objects that could not be evaluated, in the order in which Audit got them, at
	// most MaxViolations of them. UnevaluatedCount counts all.
	Unevaluated      []Unevaluated
	UnevaluatedCount int
	// Unread are the errors of the resources whose objects could not be read.
	Unread []error
	// Namespaces has the sums over all policies and bindings by the namespaces of the objects.
	// Objects without a namespace are in "".
	Namespaces map[string]*Counts
}

// Counts are numbers of objects: those that satisfy all validations, those that violate one, and
// those that violate none, but for which a validation could not be evaluated.
type Counts struct{ Passed, Violated, Failed int }

// Violations returns the number of pairs of an object and a binding of a policy that denies it.
func (r *Report) Violations() (n int) {
	for i := range r.Policies {
		n += r.Policies[i].Violated
	}
	return n
}

// Errors returns how much of the audit failed: the number of pairs of an object and a binding of a
// policy that could not be evaluated, plus the objects that could not be evaluated at all and the
// resources that could not be read.
func (r *Report) Errors() int {
	n := r.UnevaluatedCount + len(r.Unread)
	for i := range r.Policies {
		n += r.Policies[i].Failed
	}
	return n
}

// A PolicyResult is the result of a policy through one of its bindings.
type PolicyResult struct {
	// Name and Binding are names. Binding is empty if the policy has none.
	Name, Binding string
	// Actions are the binding's validationActions.
	Actions []v1.ValidationAction
	// NotAuditable is why the policy was not evaluated. Binding is then empty.
	NotAuditable string
	// Counts are the numbers of objects that the policy matches.
	Counts
	// Violations are in the order in which Audit got the objects. Of more than MaxViolations, only
	// the first are listed; ViolationsCount counts all.
	Violations      []Violation
	ViolationsCount int
}

// A Violation is a validation that an object violates, or that could not be evaluated.
type Violation struct {
	Object Reference
	// Index is the position of the validation in spec.validations, or -1 if the violation is not of
	// one validation.
	Index   int
	Outcome validating.Outcome
	Message string
	Reason  metav1.StatusReason
	// Field is the field of the object that the validation is about. It is empty if the policy
	// names none.
	Field string

	sequence int
}

// A Reference identifies an object.
type Reference struct {
	schema.GroupVersionKind
	Namespace, Name string
	// UID is empty for objects of files.
	UID types.UID
	// Position is the place of the object in a file. It is empty for objects of a server.
	Position manifest.Position
}

// Unevaluated is an object that could not be evaluated.
type Unevaluated struct {
	Object Reference
	Err    error

	sequence int
}

// collector adds up the results of objects. It is safe for concurrent use.
type collector struct {
	max   int
	since map[string]time.Time
	lock  sync.Mutex
	// policies has the positions of policies in the report, by name and binding.
	policies map[[2]string]int
	report   Report
}

func (a *Auditor) newCollector() *collector {
	c := &collector{max: a.maxFindings, since: a.since, policies: map[[2]string]int{}}
	c.report.Policies, c.report.Namespaces = a.Policies(), map[string]*Counts{}
	c.report.Unread, c.report.Unevaluated, c.report.UnevaluatedCount = slices.Clone(a.unread), slices.Clone(a.unevaluated), len(a.unevaluated)
	for i, p := range c.report.Policies {
		c.policies[[2]string{p.Name, p.Binding}] = i
	}
	return c
}

// add adds the decisions of all policies about an object. sequence is the number of objects that
// Audit got before it, and written the time when it was last written.
func (c *collector) add(sequence int, object Reference, written time.Time, decisions []validating.Decision) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.report.Objects++
	for len(decisions) > 0 {
		first := decisions[0]
		end := slices.IndexFunc(decisions, func(d validating.Decision) bool { return d.Policy != first.Policy || d.Binding != first.Binding })
		if end < 0 {
			end = len(decisions)
		}
		if !written.Before(c.since[first.Binding]) {
			c.addPolicy(sequence, object, decisions[:end])
		}
		decisions = decisions[end:]
	}
}

// addPolicy adds the decisions of one policy through one binding.
func (c *collector) addPolicy(sequence int, object Reference, decisions []validating.Decision) {
	for _, i := range c.positions(decisions[0].Policy, decisions[0].Binding) {
		p := &c.report.Policies[i]
		var violated, failed bool
		for _, d := range decisions {
			switch d.Outcome {
			case validating.Admitted:
				continue
			case validating.Denied:
				violated = true
			default:
				failed = true
			}
			p.Violations = append(p.Violations, Violation{Object: object, Index: d.Index, Outcome: d.Outcome, Message: d.Message, Reason: d.Reason, Field: d.Field, sequence: sequence})
			p.ViolationsCount++
		}
		for _, counts := range []*Counts{&p.Counts, c.namespace(object.Namespace)} {
			switch {
			case violated:
				counts.Violated++
			case failed:
				counts.Failed++
			default:
				counts.Passed++
			}
		}
		if c.max > 0 && len(p.Violations) > 2*c.max {
			p.Violations = earliest(p.Violations, c.max, findingSequence)
		}
	}
}

// namespace returns the counts of a namespace.
func (c *collector) namespace(name string) *Counts {
	counts := c.report.Namespaces[name]
	if counts == nil {
		counts = &Counts{}
		c.report.Namespaces[name] = counts
	}
	return counts
}

// positions returns the positions of a policy's entries in the report. A decision without a binding
// counts for all bindings of the policy.
func (c *collector) positions(policy, binding string) []int {
	if i, ok := c.policies[[2]string{policy, binding}]; ok {
		return []int{i}
	}
	var all []int
	for i := range c.report.Policies {
		if c.report.Policies[i].Name == policy {
			all = append(all, i)
		}
	}
	return all
}

// fail adds an object that could not be evaluated.
func (c *collector) fail(sequence int, object Reference, err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.report.Unevaluated = append(c.report.Unevaluated, Unevaluated{object, err, sequence})
	c.report.UnevaluatedCount++
	if c.max > 0 && len(c.report.Unevaluated) > 2*c.max {
		c.report.Unevaluated = earliest(c.report.Unevaluated, c.max, unevaluatedSequence)
	}
}

// unread adds the error of a resource whose objects could not be read.
func (c *collector) unread(err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.report.Unread = append(c.report.Unread, err)
}

// result returns the report. The collector must not be used afterwards.
func (c *collector) result() *Report {
	for i := range c.report.Policies {
		p := &c.report.Policies[i]
		p.Violations = earliest(p.Violations, c.max, findingSequence)
	}
	c.report.Unevaluated = earliest(c.report.Unevaluated, c.max, unevaluatedSequence)
	return &c.report
}

func findingSequence(f Violation) int       { return f.sequence }
func unevaluatedSequence(u Unevaluated) int { return u.sequence }

// earliest sorts items by their sequence and returns the first ones. 0 means all.
func earliest[T any](items []T, max int, sequence func(T) int) []T {
	slices.SortStableFunc(items, func(a, b T) int { return cmp.Compare(sequence(a), sequence(b)) })
	if max == 0 || len(items) <= max {
		return items
	}
	clear(items[max:])
	return items[:max]
}
