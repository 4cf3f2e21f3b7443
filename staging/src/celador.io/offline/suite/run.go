// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
)

// A Runner runs suites. It is safe for concurrent use.
type Runner struct {
	// Types are the API types of the clusters. Required.
	Types cluster.Types
	// Select reports whether to run the case of a suite. Nil runs all.
	Select func(suite, name string) bool
	// Parallel is the number of cases that run at a time. If it is not positive, it is GOMAXPROCS.
	Parallel int
	// Progress is called after each case, with the number of cases that are done and the number of all selected ones. Calls do not overlap. May be nil.
	Progress func(done, total int)
	// Coverage collects the branches of the expressions of all policies that cases reach. May be nil.
	Coverage *coverage.Profile
}

// Run runs suites, and returns their results in the given order. Suites without a selected case are left out. Once
// ctx is done, the remaining cases fail with its error.
func (r *Runner) Run(ctx context.Context, tests []*Test) []Result {
	var results []Result
	var pending []func()
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
		fixtures := map[string]fixture{}
		for i, c := range selected {
			objects, key := test.objects, fixtureKey(c.objects)
			if len(c.objects) > 0 {
				objects = overlay(test.objects, c.objects)
			}
			f, found := fixtures[key]
			if !found {
				f = r.fixture(ctx, objects)
				fixtures[key] = f
			}
			pending = append(pending, func() { cases[i] = r.runCase(ctx, test, c, objects, f) })
		}
	}
	r.runAll(pending)
	return results
}

// runAll runs functions in parallel, and reports the progress.
func (r *Runner) runAll(pending []func()) {
	var jobs errgroup.Group
	jobs.SetLimit(r.Parallel)
	if r.Parallel <= 0 {
		jobs.SetLimit(runtime.GOMAXPROCS(0))
	}
	var lock sync.Mutex
	done := 0
	for i, run := range pending {
		pending[i] = nil // the clusters of a case are garbage after the last case that uses them
		jobs.Go(func() error {
			run()
			if r.Progress != nil {
				lock.Lock()
				defer lock.Unlock()
				done++
				r.Progress(done, len(pending))
			}
			return nil
		})
	}
	_ = jobs.Wait() // No function returns an error.
}

// A fixture has the cluster of some manifests and its tracing and, for comparison, the cluster without policies. They are created
// when they are first needed.
type fixture struct {
	cluster, unguarded func() (*cluster.Cluster, error)
	tracing            func() (*tracing, error)
}

// fixtureKey returns a key that is equal for cases with equal manifests.
func fixtureKey(objects []object) string {
	var key strings.Builder
	for _, o := range objects {
		key.Write(o.document.Raw())
		key.WriteByte('\n')
	}
	return key.String()
}

func (r *Runner) fixture(ctx context.Context, objects []object) fixture {
	create := func(objects []object) func() (*cluster.Cluster, error) {
		return sync.OnceValues(func() (*cluster.Cluster, error) { return r.newCluster(ctx, objects) })
	}
	others := slices.DeleteFunc(slices.Clone(objects), func(o object) bool {
		return o.content.GroupVersionKind().Group == admissionv1.GroupName && slices.Contains(policyKinds, o.content.GetKind())
	})
	f := fixture{cluster: create(objects), unguarded: create(others)}
	f.tracing = sync.OnceValues(func() (*tracing, error) {
		created, err := f.cluster()
		if err != nil {
			return nil, err
		}
		return newTracing(created, objects)
	})
	return f
}

// newCluster returns a cluster with objects. Its errors have the positions of the objects' fields.
func (r *Runner) newCluster(ctx context.Context, objects []object) (*cluster.Cluster, error) {
	contents, documents := make([]*unstructured.Unstructured, len(objects)), make([]*manifest.Document, len(objects))
	for i := range objects {
		contents[i], documents[i] = objects[i].content, objects[i].document
	}
	created, err := cluster.New(ctx, r.Types, contents...)
	if err != nil {
		return nil, Locate(err, documents)
	}
	return created, nil
}

// runCase runs a case. A panic is an error of the case, so that the other ones run.
func (r *Runner) runCase(ctx context.Context, test *Test, c *testCase, objects []object, shared fixture) (result CaseResult) {
	result = CaseResult{Name: c.spec.Name, Position: test.document.Position(c.path), Skipped: c.spec.Skip}
	if result.Skipped != "" {
		return result
	}
	defer func() {
		if reason := recover(); reason != nil {
			result.Err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	if result.Err = ctx.Err(); result.Err != nil {
		return result
	}
	created, err := shared.cluster()
	if err != nil {
		result.Err = err
		return result
	}
	start := time.Now()
	result.Review, err = created.Admit(ctx, c.request)
	result.Duration = time.Since(start)
	if status, ok := err.(*apierrors.StatusError); ok && c.spec.Expect.Allowed != nil {
		result.Review, err = &cluster.Review{Status: status}, nil
	}
	if err != nil {
		result.Err = c.refused(test.document, err)
		return result
	}
	check := checker{document: test.document, objects: objects, path: c.path + ".expect"}
	result.Decision = check.check(c, result.Review)
	result.Note = c.spec.Notes[result.Decision]
	if c.spec.Expect.Patch != nil && (result.Decision == c.spec.Expect.Decision || c.spec.Expect.Decision == "" && result.Review.Allowed) {
		if result.Err = check.comparePatch(ctx, c, shared, result.Review); result.Err != nil {
			return result
		}
	}
	if err := r.trace(ctx, c, shared, &check, result.Decision); err != nil {
		result.Err = err
	}
	result.Mismatches, result.Differences = check.mismatches, check.differences
	return result
}

// trace sends the request of a case again to measure coverage and to explain mismatches.
func (r *Runner) trace(ctx context.Context, c *testCase, shared fixture, check *checker, decision Decision) error {
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

// comparePatch compares the object of a review with the object of the same request without policies.
func (c *checker) comparePatch(ctx context.Context, test *testCase, shared fixture, review *cluster.Review) error {
	operations := test.spec.Expect.Patch
	if review.Object == nil {
		c.fail("patch", toJSON(operations), noObject(review))
		return nil
	}
	unguarded, err := shared.unguarded()
	if err != nil {
		return err
	}
	before, err := unguarded.Admit(ctx, test.request)
	switch {
	case err != nil:
		return test.refused(c.document, err)
	case before.Object == nil:
		c.fail("patch", "changes of the object", fmt.Sprintf("without policies, the server rejects the object: %s", statusMessage(before)))
	default:
		c.checkPatch(operations, before.Object, review.Object)
	}
	return nil
}
