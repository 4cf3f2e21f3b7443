// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus/servedtypes"
)

// errNoSchema requeues a policy that names types of an aggregated server that have no schema
// yet. The schemas arrive some time after the server is registered, and nothing announces them.
var errNoSchema = errors.New("types of another server have no schema")

// A report holds the findings of one check of a policy, truncated to fit into a status. The
// controller keeps the last report of each policy. A report is immutable except for unrecorded,
// initial and lag.
type report struct {
	uid        types.UID
	generation int64
	spec       fingerprint
	// compileErrors lists the errors that do not depend on types, and typeErrors the type errors
	// that make an Enforced policy unavailable. Each is nil if there are none.
	compileErrors, typeErrors error
	// warnings are the type errors as in the status, errors that has() guards against included.
	warnings []v1.ExpressionWarning
	// fields are the field paths of the warnings, separated by commas.
	fields string
	// note is the text of an event with the type errors, empty if there are none. Errors that has()
	// guards against are left out, unless no type has the field.
	note string
	// lookups are the lookups whose objects are not known.
	lookups []unknownLookup
	// unchecked are the types that the policy names and that were not checked.
	unchecked []typecheck.Unchecked
	// customResources are the custom resources that the check looked up.
	customResources []servedtypes.CustomResourceType
	// aggregated is set if the check looked up types of aggregated servers.
	aggregated bool
	// aggregatedChanges is the value of Controller.aggregatedChanges before the check.
	aggregatedChanges int64
	// unrecorded is set while the status does not reflect a change that no generation shows,
	// neither that of the policy nor that of a CustomResourceDefinition; see changedUnnoticed. It
	// is used only by the worker that syncs the policy.
	unrecorded bool
	// initial is set in the first report since the start until it is compared with the status. Such
	// a report may replace findings about the same generation: while no server with this controller
	// ran, a server of Kubernetes may have changed the spec without its generation. It is used only
	// by the worker that syncs the policy.
	initial bool
	lag     lag
}

// check returns a report on the policy and gives its verdict to the engine. If neither the
// policy nor its types have changed since the last check, check returns the last report.
func (c *Controller) check(ctx context.Context, p *policy) *report {
	last, known := c.reports.Load(p.key())
	spec := p.fingerprint()
	if known && last.(*report).spec == spec && c.isCurrent(last.(*report), p) {
		return last.(*report)
	}
	aggregatedChanges, unknown := c.aggregatedChanges.Load(), c.unknownLookups(p)
	// The admission plugin compiles the same programs at the same time. The cache compiles each
	// program once, so this call waits for the plugin instead of taking CPU time from it.
	compileErrors := p.compile()
	ctx, cancel := context.WithTimeout(ctx, typesTimeout)
	defer cancel()
	view := c.types.TypeFinder(ctx)
	result := p.typeCheck(c.checker.With(view))
	r := &report{
		uid:               p.UID,
		generation:        p.Generation,
		spec:              spec,
		compileErrors:     typecheck.Lines(compileErrors),
		typeErrors:        result.Err(),
		warnings:          result.StatusWarnings(),
		fields:            fieldsOf(result.Findings),
		note:              typecheck.Truncate(strings.Join(result.ClientWarnings(), "\n"), maxNote),
		lookups:           unknown,
		unchecked:         result.Unchecked,
		customResources:   view.Seen(),
		aggregated:        view.Aggregated(),
		aggregatedChanges: aggregatedChanges,
		lag:               lag{checked: time.Now()},
	}
	r.unrecorded = known && r.changedUnnoticed(last.(*report))
	// With initial set, the first report since the start may replace findings in the status that
	// contradict it: a server of Kubernetes may have changed the spec before. It is not set if
	// there may be another reason: types that were not checked or are of aggregated servers, or
	// objects of lookups that are not known. Both may be known only some time after the start.
	r.initial = !known && len(r.unchecked) == 0 && !r.aggregated && len(r.lookups) == 0
	c.reports.Store(p.key(), r)
	verdict := typecheck.Verdict(r.compileErrors, r.typeErrors)
	for _, store := range c.verdicts[p.descriptor.name] {
		store.SetVerdict(p.Name, p.UID, p.Generation, verdict)
	}
	return r
}

// forget drops the report and the verdict on a policy that no longer exists.
func (c *Controller) forget(k key) {
	c.reports.Delete(k)
	for _, store := range c.verdicts[k.descriptor.name] {
		store.ForgetVerdict(k.name)
	}
}

func fieldsOf(findings []typecheck.Finding) string {
	var fields []string
	for _, f := range findings {
		fields = append(fields, f.Field)
	}
	return typecheck.Truncate(strings.Join(slices.Compact(fields), ", "), maxMessage)
}

// isCurrent reports whether another check of the policy would give the same report, because the
// policy, the types that it names and the state of its lookups have not changed. Aggregated servers
// do not announce changes, so a report with their types is never current. isCurrent does not
// compare specs, which the caller has compared.
func (c *Controller) isCurrent(r *report, p *policy) bool {
	return r.uid == p.UID && r.generation == p.Generation && r.aggregatedChanges == c.aggregatedChanges.Load() &&
		!r.aggregated && !r.unavailable() && slices.EqualFunc(r.lookups, c.unknownLookups(p), samePosition) &&
		!slices.ContainsFunc(r.customResources, func(resource servedtypes.CustomResourceType) bool { return !c.types.Same(resource) })
}

// unavailable reports whether the server could not find out about some types.
func (r *report) unavailable() bool { return r.hasUnchecked(typecheck.Unavailable) }

// awaitsSchema reports whether an aggregated server serves types that have no schema.
func (r *report) awaitsSchema() bool { return r.aggregated && r.hasUnchecked(typecheck.NoSchema) }

func (r *report) hasUnchecked(reason typecheck.Reason) bool {
	return slices.ContainsFunc(r.unchecked, func(u typecheck.Unchecked) bool { return u.Reason == reason })
}

// changedUnnoticed reports whether the findings may differ from the last report because of a change
// that no generation shows: a server of Kubernetes has changed the spec by dropping Celador's
// fields, the objects of a lookup are known now or no longer, or an aggregated server has changed
// its types. Types of aggregated servers have no generation to compare. Their change is inferred
// from other findings with such types, although neither the policy nor a CustomResourceDefinition
// has changed.
func (r *report) changedUnnoticed(last *report) bool {
	if r.uid != last.uid || r.generation != last.generation {
		return false
	}
	return last.unrecorded || r.spec != last.spec || !slices.EqualFunc(r.lookups, last.lookups, samePosition) ||
		(r.aggregated || last.aggregated) && slices.Equal(r.existingResources(), last.existingResources()) && !r.sameFindings(last)
}

// existingResources returns the custom resources that have a CustomResourceDefinition.
func (r *report) existingResources() []servedtypes.CustomResourceType {
	return slices.DeleteFunc(slices.Clone(r.customResources), func(resource servedtypes.CustomResourceType) bool { return !resource.Exists() })
}

// sameFindings reports whether both reports have the same warnings and unchecked types.
func (r *report) sameFindings(other *report) bool {
	return slices.Equal(r.warnings, other.warnings) && slices.EqualFunc(r.unchecked, other.unchecked, func(a, b typecheck.Unchecked) bool {
		return a.Field == b.Field && a.Reason == b.Reason && a.Err.Error() == b.Err.Error()
	})
}
