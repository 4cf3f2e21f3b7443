// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"celador.io/celador/test/e2e/conformance/process"
)

const (
	// stopGrace is the time that an interrupted suite has to clean up.
	stopGrace = 20 * time.Second
	// listTimeout is the time that the suite has to list its specs.
	listTimeout = time.Minute
)

// A Suite is the compiled end-to-end suite of Kubernetes.
type Suite struct {
	// Binary is the path of the suite.
	Binary string
	// Kubectl is the absolute path of the kubectl that specs run.
	Kubectl string
	// Artifacts is the absolute path of an existing directory for the suite's logs and reports.
	Artifacts string
}

// Names returns the full names of all specs of the suite.
func (s Suite) Names(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTimeout, fmt.Errorf("the suite did not list its specs within %s", listTimeout))
	defer cancel()
	report, err := s.run(ctx, "list", "--ginkgo.dry-run", "--ginkgo.focus=.")
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(report.Specs))
	for _, spec := range report.Specs {
		names = append(names, spec.Name)
	}
	return names, nil
}

// Run runs the selected specs one after another, against the cluster of the kubeconfig. After
// timeout, the spec that runs fails, and another run of the suite continues with the remaining
// specs. Run returns an error if the suite itself fails. Failed specs are part of the report.
func (s Suite) Run(ctx context.Context, kubeconfig string, selection Selection, timeout time.Duration) (Report, error) {
	var all Report
	for left, run := selection.Run, 1; len(left) > 0; run++ {
		name := fmt.Sprintf("%s_%d", selection.Group, run)
		args := []string{
			"--kubeconfig=" + kubeconfig,
			"--kubectl-path=" + s.Kubectl,
			"--provider=skeleton",
			"--num-nodes=1",
			"--report-dir=" + s.Artifacts,
			"--report-prefix=" + name + "_",
			// The cluster has no nodes and pods to collect logs from.
			"--disable-log-dump",
			"--dump-logs-on-failure=false",
			"--ginkgo.timeout=" + timeout.String(),
			"--ginkgo.no-color",
			"--ginkgo.v",
		}
		for _, spec := range left {
			args = append(args, "--ginkgo.focus="+regexp.QuoteMeta(spec)+"$")
		}
		report, err := s.run(ctx, name, args...)
		if err != nil {
			return Report{}, err
		}
		all.Specs = append(all.Specs, report.Specs...)
		all.Problems = append(all.Problems, report.Problems...)
		// A run in which no spec has started would only be repeated.
		if len(report.Specs) == 0 {
			break
		}
		left = report.unstarted(left)
	}
	return all, nil
}

// run runs the suite with args and returns its report. The names of its log and report files begin
// with name. A non-zero exit code is an error only if there is no report.
func (s Suite) run(ctx context.Context, name string, args ...string) (Report, error) {
	log, path := filepath.Join(s.Artifacts, name+".log"), filepath.Join(s.Artifacts, name+".json")
	// If the suite writes no report, that of an earlier run must not be read.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Report{}, err
	}
	suite, err := process.Start("the e2e suite", s.Binary, s.Artifacts, log, append(args, "--ginkgo.json-report="+path)...)
	if err != nil {
		return Report{}, err
	}
	select {
	case <-suite.Done():
	case <-ctx.Done():
		suite.Stop(stopGrace)
		return Report{}, context.Cause(ctx)
	}

	file, err := os.Open(path)
	if err != nil {
		return Report{}, errors.Join(fmt.Errorf("the e2e suite left no report: see %s", log), suite.Err())
	}
	defer file.Close()
	report, err := ReadReport(file)
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w", path, err)
	}
	return report, nil
}
