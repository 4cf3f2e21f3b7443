// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gotest lists and runs the tests of a Go module with go test, as package specs does with
// end-to-end specs.
package gotest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"celador.io/celador/test/e2e/conformance/process"
	"celador.io/celador/test/e2e/conformance/specs"
)

// stopGrace is the time that interrupted tests have to end.
const stopGrace = 20 * time.Second

// A Suite is the tests of a module.
type Suite struct {
	// Module is the directory of the module.
	Module string
	// Packages is the pattern of the packages with the tests, such as ./test/...
	Packages string
	// Parallel is the number of processes that share the tests of a package. Zero means one.
	Parallel int
	// Artifacts is the absolute path of an existing directory for the output of go test.
	Artifacts string
}

// Tests compiles the tests and returns a selection of all tests for each package that has any. The
// group of a selection is the package's import path, and the name of a test is that path, a dot,
// and the name of its function.
func (s Suite) Tests(ctx context.Context) ([]specs.Selection, error) {
	events, err := s.test(ctx, "list", "-list=.", s.Packages)
	if err != nil {
		return nil, err
	}
	var selections []specs.Selection
	for _, e := range events {
		name := strings.TrimSuffix(e.Output, "\n")
		if e.Action != actionOutput || !testName.MatchString(name) {
			continue
		}
		// The events of one package may not be next to each other.
		group := specs.Group(e.Package)
		at := slices.IndexFunc(selections, func(s specs.Selection) bool { return s.Group == group })
		if at < 0 {
			at = len(selections)
			selections = append(selections, specs.Selection{Group: group})
		}
		selections[at].Run = append(selections[at].Run, qualified(e.Package, name))
	}
	if len(selections) == 0 {
		return nil, fmt.Errorf("%s has no tests in %s", s.Module, s.Packages)
	}
	return selections, nil
}

// testName matches those lines of go test -list that are names of tests. The other lines are about
// packages.
var testName = regexp.MustCompile(`^(Test|Fuzz|Example)\w*$`)

// Run runs the tests of a selection that Tests returned, without the excepted ones. Each process
// runs its tests one after another. After timeout, the tests that run fail and the remaining ones
// do not start. Run returns an error if go test cannot be run or is interrupted. Failed tests are
// part of the report.
func (s Suite) Run(ctx context.Context, selection specs.Selection, timeout time.Duration) (specs.Report, error) {
	shards := split(selection.Run, max(s.Parallel, 1))
	reports, errs := make([]specs.Report, len(shards)), make([]error, len(shards))
	var running sync.WaitGroup
	for i, tests := range shards {
		running.Go(func() {
			name := fmt.Sprintf("%s_%d", strings.ReplaceAll(string(selection.Group), "/", "_"), i+1)
			reports[i], errs[i] = s.run(ctx, name, string(selection.Group), tests, timeout)
		})
	}
	running.Wait()
	var all specs.Report
	for _, report := range reports {
		all.Specs = append(all.Specs, report.Specs...)
		all.Problems = append(all.Problems, report.Problems...)
	}
	return all, errors.Join(errs...)
}

// split distributes tests over at most n lists, none of them empty. Neighbours get into different
// lists, because tests of the same file often take a similar time.
func split(tests []string, n int) [][]string {
	lists := make([][]string, min(n, len(tests)))
	for i, test := range tests {
		lists[i%len(lists)] = append(lists[i%len(lists)], test)
	}
	return lists
}

// run runs tests of a package in one process. name is the name of its output files, without
// extension.
func (s Suite) run(ctx context.Context, name, pkg string, tests []string, timeout time.Duration) (specs.Report, error) {
	functions := make([]string, 0, len(tests))
	for _, test := range tests {
		functions = append(functions, regexp.QuoteMeta(strings.TrimPrefix(test, qualified(pkg, ""))))
	}
	events, err := s.test(ctx, name, "-count=1", "-timeout="+timeout.String(), "-run=^("+strings.Join(functions, "|")+")$", pkg)
	if err != nil && events == nil {
		return specs.Report{}, err
	}
	return newReport(pkg, events), nil
}

// test runs go test with args and returns its events. It also writes them to a file name.json, and
// as text to name.log. If go test fails, test returns both the events and an error.
func (s Suite) test(ctx context.Context, name string, args ...string) ([]event, error) {
	path := filepath.Join(s.Artifacts, name)
	// The upstream project has vetted its code.
	args = append([]string{"test", "-json", "-vet=off"}, args...)
	run, err := process.Start("go test", "go", s.Module, path+".json", args...)
	if err != nil {
		return nil, err
	}
	select {
	case <-run.Done():
	case <-ctx.Done():
		run.Stop(stopGrace)
		return nil, context.Cause(ctx)
	}

	file, err := os.Open(path + ".json")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	events, err := readEvents(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	if err := writeText(path+".log", events); err != nil {
		return nil, err
	}
	if run.Err() != nil {
		return events, fmt.Errorf("go test failed: see %s.log", path)
	}
	return events, nil
}

func writeText(path string, events []event) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, e := range events {
		if _, err := io.WriteString(file, e.Output); err != nil {
			return err
		}
	}
	return nil
}
