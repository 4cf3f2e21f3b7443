// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/offline/cluster"
	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
)

// A Runner runs suites. It is safe for concurrent use.
type Runner struct {
	// Backend provides the API groups, admission plugins and authorizers of the clusters in which
	// the cases run. Required.
	Backend cluster.Backend
	// AllowUnknownKinds allows manifests and requests with objects of kinds that are not served.
	// For each such kind, the cluster gets a definition without a schema. Otherwise such an object
	// is an error.
	AllowUnknownKinds bool
	// Select reports whether to run the case of a suite. Nil runs all.
	Select func(suite, name string) bool
	// Parallel is the number of cases that run at a time. If it is not positive, it is GOMAXPROCS.
	Parallel int
	// Progress is called after each case, with the number of cases that are done and the number of
	// all selected ones. Calls do not overlap. May be nil.
	Progress func(done, total int)
	// Coverage collects which branches of expressions the cases reach, for all policies, webhooks
	// and CustomResourceDefinitions. May be nil.
	Coverage *coverage.Profile
}

// Run runs suites, and returns their results in the given order. Suites without a selected case are
// left out. Once ctx is done, the remaining cases fail with its error.
func (r *Runner) Run(ctx context.Context, tests []*Test) []Result {
	var results []Result
	var batches []*batch
	for _, test := range tests {
		var selected []*testCase
		for i := range test.cases {
			if r.Select == nil || r.Select(test.Name, test.cases[i].spec.Name) {
				selected = append(selected, &test.cases[i])
			}
		}
		if len(selected) == 0 {
			continue
		}
		cases := make([]CaseResult, len(selected))
		results = append(results, Result{Name: test.Name, Position: test.Position, Cases: cases})
		var b *batch
		if i := slices.IndexFunc(batches, func(b *batch) bool { return maps.Equal(b.gates, test.Suite.FeatureGates) }); i >= 0 {
			b = batches[i]
		} else {
			b = &batch{gates: test.Suite.FeatureGates, base: cluster.NewBase(r.Backend)}
			batches = append(batches, b)
		}
		shared := r.fixture(ctx, b.base, test)
		// Cases of a suite whose own manifests are equal share a fixture.
		fixtures := map[string]fixture{fixtureKey(nil): shared}
		for i, c := range selected {
			key := fixtureKey(c.objects)
			f, found := fixtures[key]
			if !found {
				f = shared.with(ctx, overlay(test.objects, c.objects))
				fixtures[key] = f
			}
			b.jobs = append(b.jobs, func(err error) { cases[i] = r.runCase(ctx, test, c, f, err) })
		}
	}
	r.runAll(batches)
	return results
}

// A batch holds the selected cases of all suites that set the same feature gates.
type batch struct {
	gates map[string]bool
	base  *cluster.Base
	// jobs run one case each. Their argument is the error of enabling the feature gates, with which
	// the case then fails, or nil.
	jobs []func(error)
}

// runAll runs batches one after the other, because feature gates apply to the whole process. The
// jobs of a batch run in parallel. runAll reports the progress after each job.
func (r *Runner) runAll(batches []*batch) {
	total := 0
	for _, b := range batches {
		total += len(b.jobs)
	}
	var lock sync.Mutex
	done := 0
	for _, b := range batches {
		restore, err := r.Backend.EnableFeatures(b.gates)
		var jobs errgroup.Group
		jobs.SetLimit(r.Parallel)
		if r.Parallel <= 0 {
			jobs.SetLimit(runtime.GOMAXPROCS(0))
		}
		for i, run := range b.jobs {
			b.jobs[i] = nil // the clusters of a case are garbage after the last case that uses them
			jobs.Go(func() error {
				run(err)
				if r.Progress != nil {
					lock.Lock()
					defer lock.Unlock()
					done++
					r.Progress(done, total)
				}
				return nil
			})
		}
		_ = jobs.Wait() // No job returns an error.
		if err == nil {
			restore()
		}
	}
}

// A fixture holds what cases with equal manifests share: the cluster with the manifests, the
// tracing of this cluster, and a cluster without the policies, which shows what the policies
// change. Each is created when a case first needs it.
type fixture struct {
	base    *cluster.Base
	objects []object
	// definitions returns CustomResourceDefinitions for the kinds that nothing else defines, so
	// that the cluster can store their objects. It returns none unless the Runner allows unknown
	// kinds.
	definitions              func() ([]object, error)
	cluster, withoutPolicies func() (*cluster.Cluster, error)
	tracing                  func() (*tracing, error)
}

// fixtureKey returns a string that is equal for lists of manifests that have the same text.
func fixtureKey(objects []object) string {
	var key strings.Builder
	for _, o := range objects {
		key.Write(o.document.Raw())
		key.WriteByte('\n')
	}
	return key.String()
}

// fixture returns the fixture of a suite's manifests.
func (r *Runner) fixture(ctx context.Context, base *cluster.Base, test *Test) fixture {
	none := newFixture(base)
	if r.AllowUnknownKinds {
		none.definitions = sync.OnceValues(func() ([]object, error) { return unknownKinds(base, test) })
	}
	return none.with(ctx, test.objects)
}

// newFixture returns a fixture without clusters. The method with makes usable fixtures of it.
func newFixture(base *cluster.Base) fixture {
	return fixture{base: base, definitions: func() ([]object, error) { return nil, nil }}
}

// with returns a fixture for other manifests, with the base and the definitions of f.
func (f fixture) with(ctx context.Context, objects []object) fixture {
	create := func(objects []object) func() (*cluster.Cluster, error) {
		return sync.OnceValues(func() (*cluster.Cluster, error) { return f.newCluster(ctx, objects) })
	}
	f.objects, f.cluster = objects, create(objects)
	f.withoutPolicies = create(slices.DeleteFunc(slices.Clone(objects), object.isPolicy))
	shared := f
	f.tracing = sync.OnceValues(func() (*tracing, error) {
		created, err := shared.cluster()
		if err != nil {
			return nil, err
		}
		return newTracing(ctx, created, objects)
	})
	return f
}

// newCluster returns a cluster with objects. Its errors have the positions of the objects' fields.
func (f fixture) newCluster(ctx context.Context, objects []object) (*cluster.Cluster, error) {
	definitions, err := f.definitions()
	if err != nil {
		return nil, err
	}
	objects = slices.Concat(definitions, objects)
	documents := make([]*manifest.Document, len(objects))
	for i := range objects {
		documents[i] = objects[i].document
	}
	created, err := f.base.New(ctx, contents(objects)...)
	if err != nil {
		return nil, errors.Join(Locate(err, documents), f.dropped(objects))
	}
	return created, nil
}

// dropped returns an error for each field of the policies and bindings that the server drops
// because its feature gate is not enabled. The missing field may be the cause of the other errors
// of the objects, so both are reported.
func (f fixture) dropped(objects []object) error {
	var errs []error
	for _, o := range objects {
		fields, _ := f.base.DisabledFields(o.content) // Locate reports an object that cannot be decoded.
		for _, e := range fields {
			errs = append(errs, o.document.Errorf(e.Field, "the server drops the field, which %s", e.Detail))
		}
	}
	return errors.Join(errs...)
}

func contents(objects []object) []*unstructured.Unstructured {
	contents := make([]*unstructured.Unstructured, len(objects))
	for i := range objects {
		contents[i] = objects[i].content
	}
	return contents
}

// runCase runs a case. A panic becomes the error of the case, so that the other cases still run.
// gatesErr is the error of enabling the feature gates of the suite, or nil. If it is set, the case
// fails with it.
func (r *Runner) runCase(ctx context.Context, test *Test, c *testCase, shared fixture, gatesErr error) (result CaseResult) {
	result = CaseResult{Name: c.spec.Name, Position: test.document.Position(c.path), Skipped: c.spec.Skip}
	if result.Skipped != "" {
		return result
	}
	if gatesErr != nil {
		result.Err = test.document.Errorf("featureGates", "%v", gatesErr)
		return result
	}
	defer func() {
		if reason := recover(); reason != nil {
			result.Err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	result.Manifests, result.Request = contents(shared.objects), c.request
	if result.Err = ctx.Err(); result.Err != nil {
		return result
	}
	created, err := shared.cluster()
	if err != nil {
		result.Err = err
		return result
	}
	start := time.Now()
	result.Response, err = created.Admit(ctx, c.request)
	result.Duration = time.Since(start)
	if status, ok := err.(*apierrors.StatusError); ok && c.spec.Expect.Allowed != nil {
		result.Response, err = &cluster.Response{Status: status}, nil
	}
	if err != nil {
		result.Err = c.refused(test.document, err)
		return result
	}
	if result.Err = lacksTime(test.document, c, shared.objects, result.Response); result.Err != nil {
		return result
	}
	if c.spec.Expect.Decision != Error {
		if result.Err = unservedKind(created, shared.objects, result.Response); result.Err != nil {
			return result
		}
	}
	check := checker{document: test.document, objects: shared.objects, path: c.path + ".expect"}
	result.Decision = check.check(c, result.Response)
	result.Note = c.spec.Notes[result.Decision]
	if c.spec.Expect.TypeWarnings != nil {
		if result.Err = check.checkTypeWarnings(created, &c.spec.Expect); result.Err != nil {
			return result
		}
	}
	if c.spec.Expect.Patch != nil && (result.Decision == c.spec.Expect.Decision || c.spec.Expect.Decision == "" && result.Response.Allowed) {
		if result.Err = check.comparePatch(ctx, c, shared, result.Response); result.Err != nil {
			return result
		}
	}
	if err := r.trace(ctx, c, shared, &check, result.Decision); err != nil {
		result.Err = err
	}
	result.Mismatches, result.Differences = check.mismatches, check.differences
	return result
}

// trace sends the request of a case again and records the evaluations of expressions, to measure
// coverage and to explain mismatches. It does nothing if neither is needed.
func (r *Runner) trace(ctx context.Context, c *testCase, shared fixture, check *checker, decision Conclusion) error {
	if r.Coverage == nil && len(check.mismatches) == 0 {
		return nil
	}
	t, err := shared.tracing()
	if err != nil {
		return err
	}
	_, evaluations, err := t.Admit(ctx, c.request)
	if err != nil {
		return nil // the case has this error already, or expects it
	}
	if r.Coverage != nil {
		t.cover(r.Coverage, evaluations)
	}
	check.explainValues(t, &c.spec.Expect, decision, evaluations)
	return nil
}

// comparePatch checks the patch that a case expects: applied to the object that the same request
// yields without policies, it must give the object of the response.
func (c *checker) comparePatch(ctx context.Context, test *testCase, shared fixture, response *cluster.Response) error {
	operations := test.spec.Expect.Patch
	if response.Object == nil {
		c.fail("patch", toJSON(operations), noObject(response))
		return nil
	}
	withoutPolicies, err := shared.withoutPolicies()
	if err != nil {
		return err
	}
	before, err := withoutPolicies.Admit(ctx, test.request)
	switch {
	case err != nil:
		return test.refused(c.document, err)
	case before.Object == nil:
		c.fail("patch", "changes of the object", fmt.Sprintf("without policies, the server rejects the object: %s", statusMessage(before)))
	default:
		c.checkPatch(operations, before.Object, response.Object)
	}
	return nil
}
