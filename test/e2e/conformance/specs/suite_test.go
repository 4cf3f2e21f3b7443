// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// newSuite returns a suite that runs a shell script. The script writes its report to $report; the
// shell function spec prints an entry with a name and a state.
func newSuite(t *testing.T, script string) Suite {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "e2e.test")
	content := `#!/bin/sh
for last; do :; done
report=${last#--ginkgo.json-report=}
spec() { printf '{"LeafNodeType": "It", "LeafNodeText": "%s", "State": "%s"}' "$1" "$2"; }
` + script
	if err := os.WriteFile(binary, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
	return Suite{Binary: binary, Artifacts: dir}
}

func TestSuiteNames(t *testing.T) {
	suite := newSuite(t, `echo "[{\"SpecReports\": [$(spec a passed), $(spec b passed)]}]" > $report`)
	got, err := suite.Names(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSuiteRun(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		want   Report
	}{
		"a failed spec is no error": {
			script: `echo "[{\"SpecReports\": [$(spec a failed), $(spec b passed)]}]" > $report; exit 1`,
			want:   Report{Specs: []Result{{"a", Failed, ""}, {"b", Passed, ""}}},
		},
		"the specs after one that hangs get another run": {
			script: `
case $report in
*_1.json) echo "[{\"SpecReports\": [$(spec a timedout), $(spec b skipped)], \"SpecialSuiteFailureReasons\": [\"slow\"]}]" > $report; exit 1;;
*) case "$*" in
  *focus=a*) exit 1;;
  *focus=b*) echo "[{\"SpecReports\": [$(spec a skipped), $(spec b passed)]}]" > $report;;
  esac;;
esac`,
			want: Report{
				Specs:    []Result{{"a", Failed, ""}, {"b", Passed, ""}},
				Problems: []Result{{"", Failed, "slow"}},
			},
		},
		"there is no other run when none starts": {
			script: `
case $report in
*_1.json) echo "[{\"SpecReports\": [$(spec a skipped), $(spec b skipped)], \"SpecialSuiteFailureReasons\": [\"setup\"]}]" > $report;;
esac
exit 1`,
			want: Report{Problems: []Result{{"", Failed, "setup"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			selection := Selection{Group: "Things", Run: []string{"a", "b"}}
			got, err := newSuite(t, test.script).Run(t.Context(), "kubeconfig", selection, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestSuiteRunsNothingOfAnEmptySelection(t *testing.T) {
	suite := Suite{Binary: "/nonexistent", Artifacts: t.TempDir()}
	selection := Selection{Group: "Things", Excepted: []Exception{{"a", "why"}}}
	if report, err := suite.Run(t.Context(), "kubeconfig", selection, time.Minute); err != nil || len(report.Specs) != 0 {
		t.Errorf("got %+v, %v", report, err)
	}
}

func TestSuiteWithoutReport(t *testing.T) {
	selection := Selection{Group: "Things", Run: []string{"a"}}
	suite := newSuite(t, "exit 7")
	// Run must not read the report of an earlier run.
	old := filepath.Join(suite.Artifacts, "Things_1.json")
	if err := os.WriteFile(old, []byte(`[{}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := suite.Run(t.Context(), "kubeconfig", selection, time.Minute)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"no report", "exit status 7", "Things_1.log"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

func TestSuiteInterrupted(t *testing.T) {
	suite := newSuite(t, "mkfifo $report.never; read line < $report.never")
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the server is gone")
	cancel(reason)
	selection := Selection{Group: "Things", Run: []string{"a"}}
	if _, err := suite.Run(ctx, "kubeconfig", selection, time.Minute); !errors.Is(err, reason) {
		t.Errorf("got error %v, want %v", err, reason)
	}
}
