// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command benchmark compares Celador's ValidatingAdmissionPolicy, MutatingAdmissionPolicy, webhook
// match conditions and custom resources with Kubernetes'. It runs the scenarios that
// docs/performance.md describes and prints one table.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

func main() {
	s := &session{begun: time.Now()}
	flag.BoolVar(&s.Quick, "quick", false, "run only S1 to S6 and S10 to S14, which need no server, and shorter")
	only := flag.String("only", "", "run only these scenarios, separated by commas, such as S1,S7")
	flag.StringVar(&s.output, "output", "_output", "directory for bench.json, the charts and the logs of servers")
	flag.StringVar(&s.binaries[0], "upstream", "bin/upstream-kube-apiserver", "Kubernetes' kube-apiserver, for S8, S9 and S15 to S18")
	flag.StringVar(&s.binaries[1], "celador", "bin/kube-apiserver", "Celador's kube-apiserver, for S8, S9 and S15 to S18")
	flag.StringVar(&s.webhook, "polyfill", "bin/celador-webhook", "the polyfill, for S18")
	held := flag.String("heap", "", "only print the bytes of heap that a plugin, upstream or celador, needs in S7")
	flag.Parse()
	klog.SetLoggerWithOptions(logr.Discard(), klog.ContextualLogger(true)) // informers and upstream's plugin have much to say
	var err error
	if *held != "" {
		err = printHeap(*held)
	} else {
		err = s.run(*only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

// A session is one run of the benchmark: the scenarios that it runs add their figures to its
// Report.
type session struct {
	begun  time.Time
	effort measure.Effort
	// output is the directory for results. binaries holds the paths of the kube-apiservers of
	// upstream and Celador.
	output   string
	binaries [2]string
	// webhook is the path of the polyfill's binary.
	webhook string
	report.Report
}

// progress prints a line with the elapsed time to standard error.
func (s *session) progress(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "%4.0fs  %s\n", time.Since(s.begun).Seconds(), fmt.Sprintf(format, arguments...))
}

// A scenario produces rows of the table. ids are its names in docs/performance.md, such as S1. Two
// scenarios of that page that share measurements are one scenario here, with both ids. quick is set
// if the scenario takes part in quick runs.
type scenario struct {
	ids   []string
	quick bool
	run   func(*session) error
}

var scenarios = []scenario{
	{[]string{"S1"}, true, noneMatch},
	{[]string{"S2", "S3"}, true, allMatch},
	{[]string{"S2c"}, true, coldMatch},
	{[]string{"S4"}, true, manyBindings},
	{[]string{"S5"}, true, manyParams},
	{[]string{"S6"}, true, manyNamespaces},
	{[]string{"S7"}, false, heap},
	{[]string{"S8"}, false, enforcement},
	{[]string{"S9"}, false, wholeServer},
	{[]string{"S10"}, true, allExcluded},
	{[]string{"S11"}, true, allMutating},
	{[]string{"S12"}, true, validateCreate},
	{[]string{"S13"}, true, firstWrite},
	{[]string{"S14"}, true, convert},
	{[]string{"S14b"}, true, convertWrites},
	{[]string{"S15"}, false, restart},
	{[]string{"S16"}, false, throughput},
	{[]string{"S17"}, false, updates},
	{[]string{"S18"}, false, polyfill},
}

// choose returns the scenarios with the IDs in only, which commas separate. If only is empty, it
// returns the scenarios of a quick or a full run.
func choose(only string, quick bool) ([]scenario, error) {
	var chosen []scenario
	if only == "" {
		for _, scenario := range scenarios {
			if scenario.quick || !quick {
				chosen = append(chosen, scenario)
			}
		}
		return chosen, nil
	}
	for id := range strings.SplitSeq(only, ",") {
		at := slices.IndexFunc(scenarios, func(s scenario) bool { return slices.Contains(s.ids, id) })
		if at < 0 {
			return nil, fmt.Errorf("there is no scenario %q, only S1 to S18", id)
		}
		chosen = append(chosen, scenarios[at])
	}
	return chosen, nil
}

func (s *session) run(only string) error {
	chosen, err := choose(only, s.Quick)
	if err != nil {
		return err
	}
	s.effort = measure.Effort{Rounds: 40, Round: 50 * time.Millisecond}
	if s.Quick {
		s.effort = measure.Effort{Rounds: 16, Round: 30 * time.Millisecond}
	}
	s.Started, s.Environment = s.begun, report.CurrentEnvironment()
	if err := os.MkdirAll(s.output, 0o755); err != nil {
		return err
	}
	for _, scenario := range chosen {
		if err := scenario.run(s); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(scenario.ids, ", "), err)
		}
	}
	s.Seconds = time.Since(s.begun).Seconds()
	if err := write(filepath.Join(s.output, "bench.json"), s.WriteJSON); err != nil {
		return err
	}
	if len(s.Series) > 0 {
		if err := write(filepath.Join(s.output, "bench.svg"), s.WriteSVG); err != nil {
			return err
		}
	}
	if len(s.Throughput) > 0 {
		if err := write(filepath.Join(s.output, "throughput.svg"), s.WriteThroughputSVG); err != nil {
			return err
		}
	}
	return s.WriteTable(os.Stdout)
}

// write creates a file and fills it with content.
func write(path string, content func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := content(file); err != nil {
		file.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	return file.Close()
}
