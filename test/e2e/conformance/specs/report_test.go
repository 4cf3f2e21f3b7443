// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
)

func encode(t *testing.T, report types.Report) *strings.Reader {
	t.Helper()
	encoded, err := json.Marshal([]types.Report{report})
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReader(string(encoded))
}

func TestReadReport(t *testing.T) {
	spec := func(state types.SpecState, message string) types.SpecReport {
		return types.SpecReport{
			ContainerHierarchyTexts: []string{"[sig-api-machinery] Things", "when blue"},
			LeafNodeType:            types.NodeTypeIt,
			LeafNodeText:            "should work",
			State:                   state,
			Failure:                 types.Failure{Message: message, Location: types.CodeLocation{FileName: "things.go", LineNumber: 7}},
		}
	}
	const name = "[sig-api-machinery] Things when blue should work"
	for title, test := range map[string]struct {
		report types.Report
		want   Report
	}{
		"passed": {
			types.Report{SpecReports: types.SpecReports{spec(types.SpecStatePassed, "")}},
			Report{Specs: []Result{{name, Passed, ""}}},
		},
		"failed": {
			types.Report{SpecReports: types.SpecReports{spec(types.SpecStateFailed, "no")}},
			Report{Specs: []Result{{name, Failed, "no\nthings.go:7"}}},
		},
		"timed out": {
			types.Report{SpecReports: types.SpecReports{spec(types.SpecStateTimedout, "slow")}},
			Report{Specs: []Result{{name, Failed, "slow\nthings.go:7"}}},
		},
		"panicked": {
			types.Report{SpecReports: types.SpecReports{spec(types.SpecStatePanicked, "oh")}},
			Report{Specs: []Result{{name, Failed, "oh\nthings.go:7"}}},
		},
		"skipped itself": {
			types.Report{SpecReports: types.SpecReports{spec(types.SpecStateSkipped, "no nodes")}},
			Report{Specs: []Result{{name, Skipped, "no nodes\nthings.go:7"}}},
		},
		"not selected": {
			types.Report{SpecReports: types.SpecReports{spec(types.SpecStateSkipped, "")}},
			Report{},
		},
		"setup failed": {
			types.Report{SpecReports: types.SpecReports{
				{LeafNodeType: types.NodeTypeSynchronizedBeforeSuite, State: types.SpecStateFailed, Failure: types.Failure{Message: "no server"}},
				{LeafNodeType: types.NodeTypeSynchronizedAfterSuite, State: types.SpecStatePassed},
			}},
			Report{Problems: []Result{{"SynchronizedBeforeSuite", Failed, "no server\n:0"}}},
		},
		"suite timed out": {
			types.Report{SuiteDescription: "the suite", SpecialSuiteFailureReasons: []string{"Suite Timeout Elapsed"}},
			Report{Problems: []Result{{"the suite", Failed, "Suite Timeout Elapsed"}}},
		},
	} {
		t.Run(title, func(t *testing.T) {
			got, err := ReadReport(encode(t, test.report))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestReadReportOfSomethingElse(t *testing.T) {
	for _, content := range []string{"", "panic: no", `{"SpecReports": []}`, `[{"SpecReports": [`} {
		if got, err := ReadReport(strings.NewReader(content)); err == nil {
			t.Errorf("%q was read as %+v", content, got)
		}
	}
}
