// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package gotest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"celador.io/celador/test/e2e/conformance/specs"
)

// newSuite returns the suite of a new module example.com/m with the files, which are named by their
// paths.
func newSuite(t *testing.T, files map[string]string) Suite {
	t.Helper()
	t.Setenv("GOWORK", "off")
	module := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	for path, content := range files {
		path = filepath.Join(module, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Suite{Module: module, Packages: "./test/...", Artifacts: t.TempDir()}
}

const header = "package p\n\nimport \"testing\"\n\n"

func TestSuiteTests(t *testing.T) {
	suite := newSuite(t, map[string]string{
		"p_test.go":        header + "func TestElsewhere(t *testing.T) {}",
		"test/a/a_test.go": header + "func TestB(t *testing.T) {}\nfunc TestA(t *testing.T) {}\nfunc helper() {}",
		"test/a/b/b.go":    "package b",
		"test/b_test.go":   header + "func TestA(t *testing.T) {}",
	})
	selections, err := suite.Tests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[specs.Group][]string{}
	for _, selection := range selections {
		got[selection.Group] = selection.Run
	}
	want := map[specs.Group][]string{
		"example.com/m/test/a": {"example.com/m/test/a.TestB", "example.com/m/test/a.TestA"},
		"example.com/m/test":   {"example.com/m/test.TestA"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSuiteTestsErrors(t *testing.T) {
	for name, test := range map[string]struct {
		content, err string
	}{
		"no tests":              {header + "func helper(testing.T) {}", "has no tests in ./test/..."},
		"code does not compile": {header + "func TestA(t *testing.T) { missing() }", "list.log"},
	} {
		t.Run(name, func(t *testing.T) {
			suite := newSuite(t, map[string]string{"test/p_test.go": test.content})
			if _, err := suite.Tests(t.Context()); err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want one with %q", err, test.err)
			}
		})
	}
}

func TestSuiteTestsKeepsTheReasonOfAFailedBuild(t *testing.T) {
	suite := newSuite(t, map[string]string{"test/p_test.go": header + "func TestA(t *testing.T) { missing() }"})
	if _, err := suite.Tests(t.Context()); err == nil {
		t.Fatal("no error")
	}
	log, err := os.ReadFile(filepath.Join(suite.Artifacts, "list.log"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "undefined: missing"; !strings.Contains(string(log), want) {
		t.Errorf("log %q does not say %q", log, want)
	}
}

func TestSuiteRun(t *testing.T) {
	const pkg = "example.com/m/test"
	for name, test := range map[string]struct {
		content string
		// want holds the states of the tests that start, in their order.
		want []specs.State
		// messages holds a part of the message of each test that fails.
		messages []string
		// problems holds a part of the message of each failure outside of tests.
		problems []string
	}{
		"all pass": {
			content: "func TestA(t *testing.T) { t.Run(`sub`, func(t *testing.T) { t.Skip() }) }\nfunc TestB(t *testing.T) {}",
			want:    []specs.State{specs.Passed, specs.Passed},
		},
		"a subtest fails": {
			content: `func TestA(t *testing.T) {
	t.Run("good", func(t *testing.T) { t.Log("fine") })
	t.Run("bad", func(t *testing.T) { t.Error("broken") })
}
func TestB(t *testing.T) {}`,
			want:     []specs.State{specs.Failed, specs.Passed},
			messages: []string{"--- FAIL: TestA/bad"},
		},
		"a test skips itself": {
			content:  "func TestA(t *testing.T) { t.Skip(`too slow`) }\nfunc TestB(t *testing.T) {}",
			want:     []specs.State{specs.Failed, specs.Passed},
			messages: []string{"too slow"},
		},
		"the tests after a panic do not start": {
			content:  "func TestA(t *testing.T) { panic(`oops`) }\nfunc TestB(t *testing.T) {}",
			want:     []specs.State{specs.Failed},
			messages: []string{"panic: oops"},
		},
		"other tests do not start": {
			content: "func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\nfunc TestAB(t *testing.T) { t.Fail() }",
			want:    []specs.State{specs.Passed, specs.Passed},
		},
		"the binary fails after its tests": {
			content:  "func TestA(t *testing.T) {}\nfunc TestMain(m *testing.M) { m.Run(); panic(`late`) }",
			want:     []specs.State{specs.Passed},
			problems: []string{"late"},
		},
		"code does not compile": {
			content:  "func TestA(t *testing.T) { missing() }",
			problems: []string{"go test failed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite := newSuite(t, map[string]string{"test/p_test.go": header + test.content})
			selection := specs.Selection{Group: pkg, Run: []string{pkg + ".TestA", pkg + ".TestB"}}
			report, err := suite.Run(t.Context(), selection, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			var states []specs.State
			var messages, problems []string
			for _, result := range report.Specs {
				states = append(states, result.State)
				if result.State == specs.Failed {
					messages = append(messages, result.Message)
				}
			}
			for _, problem := range report.Problems {
				problems = append(problems, problem.Message)
			}
			if !reflect.DeepEqual(states, test.want) {
				t.Errorf("got %+v, want the states %v", report.Specs, test.want)
			}
			contain(t, messages, test.messages)
			contain(t, problems, test.problems)
		})
	}
}

// contain checks that got has one string for each of parts, which contains the part.
func contain(t *testing.T, got, parts []string) {
	t.Helper()
	if len(got) != len(parts) {
		t.Fatalf("got %q, want strings with %q", got, parts)
	}
	for i, part := range parts {
		if !strings.Contains(got[i], part) {
			t.Errorf("got %q, want a string with %q", got[i], part)
		}
	}
}

// The lines of subtests that pass would hide those of the subtest that fails.
func TestSuiteRunMessage(t *testing.T) {
	suite := newSuite(t, map[string]string{"test/p_test.go": header + `func TestA(t *testing.T) {
	t.Run("bad", func(t *testing.T) { t.Error("broken") })
	t.Run("good", func(t *testing.T) { t.Log("fine") })
}`})
	const pkg = "example.com/m/test"
	report, err := suite.Run(t.Context(), specs.Selection{Group: pkg, Run: []string{pkg + ".TestA"}}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	message := report.Specs[0].Message
	if !strings.Contains(message, "broken") || strings.Contains(message, "fine") {
		t.Errorf("got message %q, want the lines of the subtest that fails", message)
	}
}

func TestSuiteRunInParallel(t *testing.T) {
	const pkg = "example.com/m/test"
	// The processes can only end if all of them run.
	suite := newSuite(t, map[string]string{"test/p_test.go": `package p

import (
	"os"
	"testing"
)

func meet(t *testing.T, own, other string) {
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(other); err == nil {
			return
		}
	}
}

func TestA(t *testing.T) { meet(t, "a", "b") }
func TestB(t *testing.T) { meet(t, "b", "a") }
func TestC(t *testing.T) {}
`})
	for _, parallel := range []int{2, 5} {
		suite.Parallel = parallel
		selection := specs.Selection{Group: pkg, Run: []string{pkg + ".TestA", pkg + ".TestB", pkg + ".TestC"}}
		report, err := suite.Run(t.Context(), selection, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]specs.State{}
		for _, result := range report.Specs {
			got[result.Name] = result.State
		}
		want := map[string]specs.State{pkg + ".TestA": specs.Passed, pkg + ".TestB": specs.Passed, pkg + ".TestC": specs.Passed}
		if !reflect.DeepEqual(got, want) || len(report.Problems) > 0 {
			t.Errorf("%d processes: got %+v, want %v", parallel, report, want)
		}
	}
}

func TestSuiteRunsNothingOfAnEmptySelection(t *testing.T) {
	suite := Suite{Module: "/nonexistent", Artifacts: t.TempDir()}
	report, err := suite.Run(t.Context(), specs.Selection{Group: "p", Excepted: []specs.Exception{{Spec: "p.TestA", Reason: "why"}}}, time.Minute)
	if err != nil || len(report.Specs) != 0 {
		t.Errorf("got %+v, %v", report, err)
	}
}

func TestSuiteInterrupted(t *testing.T) {
	suite := newSuite(t, map[string]string{"test/p_test.go": header + "func TestA(t *testing.T) { select {} }"})
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("etcd is gone")
	cancel(reason)
	selection := specs.Selection{Group: "example.com/m/test", Run: []string{"example.com/m/test.TestA"}}
	if _, err := suite.Run(ctx, selection, time.Minute); !errors.Is(err, reason) {
		t.Errorf("got error %v, want %v", err, reason)
	}
}
