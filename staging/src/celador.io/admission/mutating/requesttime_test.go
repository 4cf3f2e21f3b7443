// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/endpoints/request"

	"celador.io/admission/mutating"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
)

// All patches of a request read the time at which the server received it, and so do those that are
// applied again.
func TestRequestTime(t *testing.T) {
	ctx := request.WithReceivedTimestamp(t.Context(), time.Date(2026, 11, 28, 21, 30, 0, 0, time.UTC))
	s := create(policyspec.Features{policyspec.RequestTime: true}, configMap(),
		ifNeeded(policytest.Mutating("a", policytest.ApplyConfiguration("Object{data: {'a': string(request.time)}}"))),
		ifNeeded(policytest.Mutating("b", policytest.ApplyConfiguration("Object{data: {'b': string(request.time), 'all': string(dyn(request)['time'])}}"))))
	for range 2 {
		result, err := s.engine.Mutate(ctx, s.Attributes, interfaces, mutating.Options{}, s.snapshot)
		if err == nil {
			err = result.Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		s.GetReinvocationContext().SetIsReinvoke()
	}
	const want = "2026-11-28T21:30:00Z"
	if diff := cmp.Diff(map[string]string{"a": want, "b": want, "all": want}, s.data()); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	off := create(nil, configMap(), policytest.Mutating("a", policytest.ApplyConfiguration("Object{data: {'a': string(request.time)}}")))
	if result, err := off.mutate(t); err != nil || result.Err() == nil {
		t.Errorf("with the gate off: %v, %v, want a failure", err, result.Err())
	}
}
