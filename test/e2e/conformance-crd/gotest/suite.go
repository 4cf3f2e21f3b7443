// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gotest lists and runs the tests of a Go module with go test, as package specs does with end-to-end specs.
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
	// Artifacts is the absolute path of an existing directory for the output of go test.
	Artifacts string
}

// Tests compiles the tests and returns a selection of all tests for each package that has any. The group of a selection
// is the package's import path, and the name of a test is that path, a dot, and the name of its function.
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
		// The events of several packages may be interleaved.
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

// testName matches the lines of go test -list that are names. Others have the result of a package.
var testName = regexp.MustCompile(`^(Test|Fuzz|Example)\w*$`)

// Run runs the tests of a package, one after another, except for those that the selection excepts. After timeout, the
// test that runs fails and the remaining ones do not start. Run returns an error if go test cannot be run or is
// interrupted; failed tests are part of the report.
func (s Suite) Run(ctx context.Context, selection specs.Selection, timeout time.Duration) (specs.Report, error) {
	if len(selection.Run) == 0 {
		return specs.Report{}, nil
	}
	pkg := string(selection.Group)
	args := []string{"-count=1", "-timeout=" + timeout.String()}
	if len(selection.Excepted) > 0 {
		var names []string
		for _, exception := range selection.Excepted {
			names = append(names, regexp.QuoteMeta(strings.TrimPrefix(exception.Spec, qualified(pkg, ""))))
		}
		args = append(args, "-skip=^("+strings.Join(names, "|")+")$")
	}
	events, err := s.test(ctx, strings.ReplaceAll(pkg, "/", "_"), append(args, pkg)...)
	if err != nil && events == nil {
		return specs.Report{}, err
	}
	return newReport(pkg, events), nil
}

// test runs go test with args and returns its events, which it also writes to a file name.json, and as text to
// name.log. If go test fails, test returns the events and an error.
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
