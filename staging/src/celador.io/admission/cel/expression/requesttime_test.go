// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"testing"

	"github.com/google/cel-go/cel"

	"celador.io/admission/cel/expression"
)

func TestReadsRequestTime(t *testing.T) {
	for source, want := range map[string]bool{
		"request.time < timestamp('2027-01-01T00:00:00Z')":                true,
		".request.time.getHours() == 1":                                   true,
		"request.`time`.getHours() == 1":                                  true,
		"has(request.time)":                                               true,
		"request.?time.hasValue()":                                        true,
		"object.spec.list.all(x, request.time > timestamp(x))":            true,
		"[request.time].size() == 1":                                      true,
		"{'a': request.time}.size() == 1":                                 true,
		"[1].all(request, .request.time > timestamp(0))":                  true,
		"[request.time].all(request, true)":                               true,
		"[request].all(r, r.time > timestamp(0))":                         true,
		"[request].exists(r, has(r.time))":                                true,
		"[request].all(request, request.time > timestamp(0))":             true,
		"[request].map(r, [r])[0][0].time > timestamp(0)":                 true,
		"[request][0].time > timestamp(0)":                                true,
		"[request][?0].time.hasValue()":                                   true,
		"{'r': request}.r.time > timestamp(0)":                            true,
		"(true ? request : request).time > timestamp(0)":                  true,
		"optional.of(request).time.hasValue()":                            true,
		"optional.of(request).?time.hasValue()":                           true,
		"optional.of(request).orValue(request).time > timestamp(0)":       true,
		"optional.of(request).optMap(r, r.time).hasValue()":               true,
		"kubernetes.AdmissionRequest{time: timestamp(0)} == request":      true,
		"kubernetes.AdmissionRequest{name: 'time'} == request":            false,
		"object.time == request.name":                                     false,
		"object.spec.time == 'request'":                                   false,
		"[object].all(r, r.time == request.name)":                         false,
		"[object, dyn(request)].all(r, r.time == 1)":                      false,
		"{'time': request}.time.name == 'a'":                              false,
		"request.name == 'time'":                                          false,
		"object.request.time == 'a'":                                      false,
		"object.spec.requests.all(request, request.time != '')":           false,
		"object.?spec.optMap(request, request.time == 'x').hasValue()":    false,
		"dyn(request).time == dyn(request).time":                          false,
		"object.l.transformList(i, request, request.time == i) == [true]": false,
	} {
		program, err := expression.Default().Compile(source, nothing, fresh, cel.BoolType)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got := program.ReadsRequestTime(); got != want {
			t.Errorf("%s reads request.time: %t, want %t", source, got, want)
		}
	}
}

func TestRequestTimeIsTimestamp(t *testing.T) {
	program, err := expression.Default().Compile("request.time", nothing, fresh, cel.AnyType)
	if err != nil {
		t.Fatal(err)
	}
	if got := program.OutputType(); !got.IsExactType(cel.TimestampType) {
		t.Errorf("the type of request.time is %v, want a timestamp", got)
	}
	if _, err := expression.Default().Compile("request.time == 'monday'", nothing, fresh, cel.BoolType); err == nil {
		t.Error("a timestamp can be compared with a string, want an error")
	}
}
