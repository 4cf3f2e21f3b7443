// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/endpoints/request"

	"celador.io/admission/cel/celtest"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

// timed returns an engine and a snapshot of policies, each with a binding.
func timed(t *testing.T, features policyspec.Features, policies ...*v1.ValidatingAdmissionPolicy) (*validating.Engine, *validating.Snapshot) {
	t.Helper()
	server := newServer()
	engine := validating.NewEngine(validating.Config{Features: features, Namespaces: server, Authorizer: server})
	s := engine.NewStore()
	for _, p := range policies {
		if err := s.Set(p, policytest.Binding(p.Name, p.Name)); err != nil {
			t.Fatal(err)
		}
	}
	return engine, s.Snapshot()
}

// messagesFor returns the messages of all violations.
func messagesFor(t *testing.T, ctx context.Context, engine *validating.Engine, snapshot *validating.Snapshot) []string {
	t.Helper()
	result, err := engine.Evaluate(ctx, create(1), newServer(), snapshot)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, d := range result.Violations {
		found = append(found, d.Message)
	}
	result.Free()
	return found
}

// tellingTime returns a policy that denies every request with the time of the request.
func tellingTime(name string) *v1.ValidatingAdmissionPolicy {
	return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{
		Variables:   []v1.Variable{{Name: "now", Expression: "request.time"}, {Name: "request", Expression: "request"}},
		Validations: []v1.Validation{{Expression: "variables.now == timestamp('2000-01-01T00:00:00Z')", MessageExpression: "string(request.time) + ' ' + string(variables.now) + ' ' + string(variables.request.time)"}},
	})
}

var requestTimeOn = policyspec.Features{policyspec.RequestTime: true}

func TestRequestTime(t *testing.T) {
	celtest.CheckKept(t)
	received := time.Date(2026, 11, 28, 23, 30, 0, 123456789, time.FixedZone("east", 2*60*60)) // Saturday, 21:30 UTC
	const want = "2026-11-28T21:30:00.123456Z"
	for expression, want := range map[string]string{
		"request.time == timestamp('" + want + "')":                                          "",
		"request.time > timestamp('2026-11-28T00:00:00Z')":                                   "",
		"request.time.getHours() == 21 && request.time.getDayOfWeek() == 6":                  "",
		"request.time.getHours('+02:00') == 23 && request.time.getHours('Asia/Tokyo') == 6":  "",
		"request.time - duration('1h') < request.time":                                       "",
		"has(request.time) && request.?time.hasValue()":                                      "",
		"dyn(request).time == dyn(request)['time'] && dyn(request) == dyn(request)":          "",
		"'time' in dyn(request) && dyn(request).exists(k, k == 'time')":                      "",
		"type(request.time) == type(timestamp(0)) && string(request.time) == '" + want + "'": "",
		"request.operation == 'CREATE' && request.userInfo.username == 'jane'":               "",
		"request.time == 'saturday'":                                                         "no matching overload",
	} {
		engine, snapshot := timed(t, requestTimeOn, policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
			MatchConditions: []v1.MatchCondition{{Name: "now", Expression: "request.time.getFullYear() == 2026"}},
			Validations:     policytest.Validations(expression),
		}))
		got := strings.Join(messagesFor(t, request.WithReceivedTimestamp(t.Context(), received), engine, snapshot), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", expression, got, want)
		}
	}
}

// All policies of a request read the same time, and each request has its own, although policies
// share values and evaluations share memory.
func TestRequestTimeOfEachRequest(t *testing.T) {
	celtest.CheckKept(t)
	engine, snapshot := timed(t, requestTimeOn, tellingTime("a"), tellingTime("b"), tellingTime("c"), tellingTime("d"))
	check := func(name string, got []string, want func(time.Time) bool) {
		t.Helper()
		if len(got) != 4 {
			t.Fatalf("%s: got %q, want 4 messages", name, got)
		}
		for _, message := range got {
			first, _, _ := strings.Cut(message, " ")
			read, err := time.Parse(time.RFC3339Nano, first)
			if err != nil || !want(read) || message != got[0] || message != first+" "+first+" "+first {
				t.Errorf("%s: the message is %q, that of the first policy %q: %v", name, message, got[0], err)
			}
		}
	}
	for minute := range 5 {
		received := time.Date(2026, 11, 28, 21, minute, 0, 0, time.UTC)
		check("received", messagesFor(t, request.WithReceivedTimestamp(t.Context(), received), engine, snapshot), received.Equal)
	}
	before := time.Now().Truncate(time.Microsecond)
	got := messagesFor(t, t.Context(), engine, snapshot)
	after := time.Now()
	check("not received by a server", got, func(read time.Time) bool { return !read.Before(before) && !read.After(after) })
}

func TestRequestTimeNeedsGate(t *testing.T) {
	for expression, want := range map[string]string{
		"!has(request.time) && request.operation == 'CREATE'": "",
		"!('time' in dyn(request))":                           "",
		"request.time > timestamp(0)":                         "no such key: time",
	} {
		engine, snapshot := timed(t, nil, policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(expression)}))
		got := strings.Join(messagesFor(t, request.WithReceivedTimestamp(t.Context(), time.Now()), engine, snapshot), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", expression, got, want)
		}
	}
	for name, test := range map[string]struct {
		features policyspec.Features
		want     string
	}{
		"off": {nil, "[spec.variables[0].expression: request.time requires the AdmissionPolicyRequestTime feature gate to be enabled " +
			"spec.validations[0].messageExpression: request.time requires the AdmissionPolicyRequestTime feature gate to be enabled]"},
		"on": {requestTimeOn, "[]"},
	} {
		engine, _ := timed(t, test.features)
		if got := fmt.Sprint(engine.Errors(tellingTime("p"))); got != test.want {
			t.Errorf("%s: the status has errors %s, want %s", name, got, test.want)
		}
	}
}

// BenchmarkRequestTime measures a policy that reads 'request', but not its time.
func BenchmarkRequestTime(b *testing.B) {
	for name, features := range map[string]policyspec.Features{"off": nil, "on": requestTimeOn} {
		b.Run(name, func(b *testing.B) {
			server := newServer()
			engine := validating.NewEngine(validating.Config{Features: features, Namespaces: server, Authorizer: server})
			snapshot, err := engine.NewSnapshot(policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("request.operation == 'CREATE'")}), policytest.Binding("p", "p"))
			if err != nil {
				b.Fatal(err)
			}
			ctx := request.WithReceivedTimestamp(b.Context(), time.Now())
			b.ReportAllocs()
			for b.Loop() {
				result, err := engine.Evaluate(ctx, create(1), server, snapshot)
				if err != nil {
					b.Fatal(err)
				}
				result.Free()
			}
		})
	}
}
