// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	for name, test := range map[string]struct {
		selection Selection
		report    Report
		ok        bool
		counts    string
		details   string
	}{
		"passed, and others did not run": {
			selection: Selection{Run: []string{"a"}},
			report:    Report{Specs: []Result{{"a", Passed, ""}, {"c", Failed, "x"}}},
			ok:        true,
			counts:    "1 passed, 0 failed, 0 skipped",
		},
		"skipped for a reason": {
			selection: Selection{Run: []string{"a"}, Excepted: []Exception{{"b", "not there yet"}}},
			report:    Report{Specs: []Result{{"a", Skipped, "no nodes"}}},
			ok:        true,
			counts:    "0 passed, 0 failed, 2 skipped",
			details:   "SKIPPED a\n    no nodes\nSKIPPED b\n    not there yet\n",
		},
		"failed": {
			selection: Selection{Run: []string{"a", "b"}, Excepted: []Exception{{"c", "not there yet"}}},
			report:    Report{Specs: []Result{{"a", Failed, "\nwhy\nwhere\n"}, {"b", Passed, ""}}},
			counts:    "1 passed, 1 failed, 1 skipped",
			details:   "SKIPPED c\n    not there yet\nFAILED a\n    why\n    where\n",
		},
		"never started": {
			selection: Selection{Run: []string{"a", "b"}},
			report:    Report{Specs: []Result{{"a", Passed, ""}}},
			counts:    "1 passed, 1 failed, 0 skipped",
			details:   "FAILED b\n    did not run\n",
		},
		"the suite failed": {
			selection: Selection{Group: "Things", Run: []string{"a"}},
			report:    Report{Specs: []Result{{"a", Passed, ""}}, Problems: []Result{{"BeforeSuite", Failed, "no server"}}},
			counts:    "1 passed, 0 failed, 0 skipped, 1 failed outside of the specs",
			details:   "FAILED Things: BeforeSuite\n    no server\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Summarize(test.selection, test.report)
			if got.OK() != test.ok {
				t.Errorf("OK is %t, want %t", got.OK(), test.ok)
			}
			if got := got.String(); got != test.counts {
				t.Errorf("got %q, want %q", got, test.counts)
			}
			if got := got.Details(); got != test.details {
				t.Errorf("got details\n%swant\n%s", got, test.details)
			}
		})
	}
}

func TestSummaryAdd(t *testing.T) {
	passed := Summarize(Selection{Run: []string{"a"}}, Report{Specs: []Result{{"a", Passed, ""}}})
	failed := Summarize(Selection{Run: []string{"b"}}, Report{Problems: []Result{{"BeforeSuite", Failed, "no server"}}})
	both := Summary{}.Add(passed).Add(failed)
	if got, want := both.String(), "1 passed, 1 failed, 0 skipped, 1 failed outside of the specs"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if both.OK() || !passed.OK() {
		t.Errorf("OK is %t and %t, want false and true", both.OK(), passed.OK())
	}
}

func TestDetailsOfALongMessage(t *testing.T) {
	summary := Summarize(Selection{Run: []string{"a"}}, Report{Specs: []Result{{"a", Failed, strings.Repeat("line\n", 1000)}}})
	got := summary.Details()
	if lines := strings.Count(got, "\n"); lines > 30 || !strings.HasSuffix(got, "…\n") {
		t.Errorf("a message of 1000 lines became %d lines:\n%s", lines, got)
	}
}
