// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
	"celador.io/offline/report"
	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
)

// Exit codes of celador test.
const (
	exitFailed   = 1
	exitUnusable = 2
)

// exitError is an error that ends the process with a code of its own. Its text may have several
// lines.
type exitError struct {
	error
	code int
}

// unusable returns an error for input that is not usable, such as an invalid flag. The error ends
// the process with exitUnusable. Its text is one line with the name of the program, as main prints
// the errors of other commands.
func unusable(format string, args ...any) error {
	return exitError{errors.New(message(fmt.Errorf(format, args...))), exitUnusable}
}

// testOptions are the flags of celador test.
type testOptions struct {
	output, run, init string
	watch, coverage   bool
	minCoverage       int
	convert           bool
	// allowUnknownKinds is suite.Runner.AllowUnknownKinds.
	allowUnknownKinds bool
}

func newTestCommand() *cobra.Command {
	var options testOptions
	command := &cobra.Command{
		Use:   "test [FILE|DIR ...]",
		Short: "Run test suites of admission policies, without a server",
		Long: `Run the test suites in files and directories, by default those in the current directory. A suite is a YAML file with
apiVersion: ` + suite.APIVersion + ` and kind: ` + suite.Kind + `, or a suite of another tool, such as a test manifest of kaptest or tests.json
of Kubescape's policy library.

The exit code is 0 if all cases pass, 1 if a case fails, and 2 if a suite is not usable. The results have the errors of such suites in every format.

With --init POLICY, write a first suite for the policies of a file instead, with cases that satisfy and violate each validation. It is written to the
file that the argument names, to standard output if the argument is -, and by default to suite.yaml beside the policy.`,
		Args: func(cmd *cobra.Command, _ []string) error {
			// Cobra would check groups of flags only later, and its error would have another exit
			// code.
			if err := cmd.ValidateFlagGroups(); err != nil {
				return unusable("%w", err)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			// Without this, registries would log the addresses that they allocate, and decoders why
			// they refuse an object.
			discardLogs()
			if cmd.Flags().Changed("init") {
				return writeSkeleton(cmd.Context(), cmd.OutOrStdout(), options.init, args)
			}
			if len(args) == 0 {
				args = []string{"."}
			}
			switch {
			case options.convert:
				return convertSuites(cmd.OutOrStdout(), args)
			case options.watch:
				return options.testOnChanges(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
			}
			return options.test(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return unusable("%w", err) })
	command.Flags().StringVarP(&options.output, "output", "o", "table", "format of the results: "+report.Runs.String())
	command.Flags().StringVar(&options.run, "run", "", "run only the cases whose suite/case matches this regular expression")
	command.Flags().BoolVar(&options.coverage, "coverage", false, "measure which branches of expressions the cases reach")
	command.Flags().IntVar(&options.minCoverage, "min-coverage", 0, "fail if less than this percentage of the branches is covered; implies --coverage")
	command.Flags().StringVar(&options.init, "init", "", "write a first suite for the policies of this file instead of running suites")
	command.Flags().BoolVar(&options.watch, "watch", false, "run the suites again when their files change, until interrupted")
	command.Flags().BoolVar(&options.convert, "convert", false, "print suites of other tools as native suites, and run nothing")
	command.Flags().BoolVar(&options.allowUnknownKinds, "allow-unknown-kinds", false,
		"serve kinds that neither the server nor a CustomResourceDefinition of the suite has, without a schema")
	command.MarkFlagsMutuallyExclusive("init", "watch", "convert")
	return command
}

// check returns an error if the value of a flag is invalid.
func (o *testOptions) check() error {
	if report.Runs[o.output] == nil {
		return unusable("-o %s is not a format: want %s", o.output, report.Runs)
	}
	if _, err := regexp.Compile(o.run); err != nil {
		return unusable("--run %s is not a regular expression: %w", o.run, err)
	}
	if o.minCoverage < 0 || o.minCoverage > 100 {
		return unusable("--min-coverage %d is not a percentage from 0 to 100", o.minCoverage)
	}
	return nil
}

// test runs the suites at paths. It writes their results to w and the progress to stderr.
func (o *testOptions) test(ctx context.Context, w, stderr io.Writer, paths []string) error {
	if err := o.check(); err != nil {
		return err
	}
	tests, problems := load(paths)
	return o.runSuites(ctx, w, stderr, tests, problems)
}

// runSuites runs suites. It writes their results, and the problems that the caller had with loading
// suites, to w, and the progress to stderr. Call o.check before: runSuites panics if --run is not a
// valid regular expression.
func (o *testOptions) runSuites(ctx context.Context, w, stderr io.Writer, tests []*suite.Test, problems []report.Problem) error {
	pattern := regexp.MustCompile(o.run)
	var profile *coverage.Profile
	if o.coverage || o.minCoverage > 0 {
		profile = &coverage.Profile{}
	}
	line := progressOn(stderr)
	runner := suite.Runner{
		Backend:           offlinebackend.KubeAPIServer,
		AllowUnknownKinds: o.allowUnknownKinds,
		Select:            func(suite, name string) bool { return pattern.MatchString(suite + "/" + name) },
		Progress:          func(done, total int) { line.count(done, total, "cases") },
		Coverage:          profile,
	}
	results := runner.Run(ctx, tests)
	line.clear()
	if len(results) == 0 && (len(tests) > 0 || len(problems) == 0) {
		problems = append(problems, report.Problem{Name: "--run", Err: fmt.Errorf("--run %s matches no case", o.run)})
	}
	all := &report.Run{Results: results, Problems: problems, Coverage: profile}
	if err := report.Runs[o.output](w, all); err != nil {
		return unusable("%w", err)
	}
	switch summary := report.Summarize(all); {
	case summary.Unusable > 0 && o.output == "table" && isTerminal(w):
		return exitError{nil, exitUnusable} // the table has the problems
	case summary.Unusable > 0:
		return exitError{problemText(problems), exitUnusable}
	case summary.Failed > 0:
		return exitError{nil, exitFailed}
	}
	return o.checkCoverage(profile)
}

// checkCoverage returns an error if too few branches are covered.
func (o *testOptions) checkCoverage(profile *coverage.Profile) error {
	if o.minCoverage == 0 {
		return nil
	}
	covered := coverage.Summarize(profile.Expressions())
	err := fmt.Errorf("%s, less than --min-coverage %d", report.DescribeCoverage(covered), o.minCoverage)
	if covered.Branches == 0 {
		err = fmt.Errorf("--min-coverage %d: no expression was loaded, so there is nothing to cover", o.minCoverage)
	} else if covered.Percent() >= o.minCoverage {
		return nil
	}
	return exitError{errors.New(message(err)), exitFailed}
}

// load returns the suites at paths, and a problem for each file or path that is not usable.
func load(paths []string) ([]*suite.Test, []report.Problem) {
	var tests []*suite.Test
	var problems []report.Problem
	files, err := suites.Find(paths...)
	for _, err := range manifest.Errors(err) {
		p := report.Problem{Name: strings.Join(paths, " "), Err: err}
		var inFile *fs.PathError
		if errors.As(err, &inFile) {
			p.Name, p.File = inFile.Path, inFile.Path
		}
		problems = append(problems, p)
	}
	for _, file := range files {
		loaded, err := suites.Load(file)
		tests = append(tests, loaded...)
		if err != nil {
			problems = append(problems, report.Problem{Name: file, File: file, Err: err})
		}
	}
	return tests, problems
}

// problemText returns an error whose text lists the problems for standard error, or nil if there
// are none. An error without a position in a file begins with the name of the program.
func problemText(problems []report.Problem) error {
	var errs []error
	for _, p := range problems {
		var located *manifest.Error
		if !errors.As(p.Err, &located) {
			p.Err = errors.New(message(p.Err))
		}
		errs = append(errs, p.Err)
	}
	return errors.Join(errs...)
}
