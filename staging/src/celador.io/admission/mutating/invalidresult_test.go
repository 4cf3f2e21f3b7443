// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"celador.io/admission/policytest"
)

// A patch that makes an object that cannot be read is a failure of its policy, which failurePolicy
// applies to, whatever the patch type is.
func TestInvalidResults(t *testing.T) {
	for path, values := range map[string][]string{
		"/data":                {`"text"`, `1`, `[1]`, `{"a": dyn(1)}`, `{"a": dyn({"b": "c"})}`, `true`},
		"/data/a":              {`1`, `[1]`, `{"a": "b"}`, `true`, `1.5`},
		"/immutable":           {`"true"`, `1`, `[true]`},
		"/binaryData":          {`{"a": "not base64!"}`, `"text"`},
		"/metadata":            {`"text"`, `[1]`},
		"/metadata/labels":     {`"text"`, `{"a": dyn(1)}`, `["a"]`},
		"/metadata/name":       {`1`, `{"a": "b"}`},
		"/metadata/finalizers": {`"text"`, `[1]`, `[["a"]]`},
		"/metadata/generation": {`"text"`, `1.5`},
		"/unknown":             {`"text"`},
		"/metadata/unknown":    {`"text"`},
	} {
		for _, value := range values {
			steps := strings.Split(strings.TrimPrefix(path, "/"), "/")
			merged := value
			for i := len(steps) - 1; i >= 0; i-- {
				merged = fmt.Sprintf(`{"%s": dyn(%s)}`, steps[i], merged)
			}
			for name, mutation := range map[string]v1.Mutation{
				"JSON patch":  jsonPatch(fmt.Sprintf(`[JSONPatch{op: "add", path: "%s", value: %s}]`, path, value)),
				"merge patch": jsonMerge(merged),
				"strategic":   strategic(merged),
			} {
				t.Run(fmt.Sprintf("%s %s=%s", name, path, value), func(t *testing.T) {
					s := create(on, configMap("a", "1"), ignoring(policytest.Mutating("p", mutation)))
					result, err := s.mutate(t)
					if err != nil || len(result.Failures) != 1 || !result.Failures[0].Ignored || result.Err() != nil {
						t.Errorf("got %v, failures %v, want one that is ignored", err, result.Failures)
					}
					if s.data()["a"] != "1" {
						t.Errorf("the object is changed: %v", s.data())
					}
					result, err = create(on, configMap("a", "1"), policytest.Mutating("p", mutation)).mutate(t)
					if err != nil {
						t.Fatal(err)
					}
					status, ok := result.Err().(*apierrors.StatusError)
					if !ok || status.ErrStatus.Code != http.StatusForbidden || !strings.HasPrefix(status.ErrStatus.Message, "policy 'p' with binding 'p' denied request: ") {
						t.Errorf("got %v", result.Err())
					}
				})
			}
		}
	}
}
