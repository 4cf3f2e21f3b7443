// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"celador.io/celador/test/integration/testserver"
)

const failuresAnnotation = "validation.policy.admission.k8s.io/validation_failure"

// Action Audit records failures in the audit event, whatever the other actions are.
func TestAuditedFailures(t *testing.T) {
	t.Parallel()
	for actions, tc := range map[string]struct{ denied, recorded bool }{
		`["Audit"]`:        {recorded: true},
		`["Audit","Warn"]`: {recorded: true},
		`["Warn","Audit"]`: {recorded: true},
		`["Deny","Audit"]`: {denied: true, recorded: true},
		`["Deny"]`:         {denied: true},
		`["Warn"]`:         {},
	} {
		t.Run(actions, func(t *testing.T) {
			ns := admin.Namespace(t, nil)
			policy := writePolicy(t, configMaps("CREATE")+`
validations:
- expression: "true"
- {expression: "false", messageExpression: "'<no> ' + object.data.size"}`)
			by := denier{policy, bind(t, policy, "validationActions: "+actions+"\n"+testserver.In(ns))}
			settle(t)
			err := newConfigMap(t, ns, map[string]string{"size": "5"})
			if tc.denied {
				by.expectInvalid(t, err, "<no> 5")
			} else {
				testserver.ExpectAdmitted(t, err)
			}
			want := map[string]string{}
			if tc.recorded {
				want[failuresAnnotation] = `[{"message":"\u003cno\u003e 5","policy":"` + by.policy + `","binding":"` + by.binding +
					`","expressionIndex":1,"validationActions":` + actions + `}]`
			}
			expectAnnotations(t, ns, want)
		})
	}
}

func TestSatisfiedPoliciesAreNotAudited(t *testing.T) {
	t.Parallel()
	ns := admin.Namespace(t, nil)
	policy := writePolicy(t, configMaps("CREATE")+`validations: [{expression: "true"}]`)
	bind(t, policy, "validationActions: [Audit, Warn]\n"+testserver.In(ns))
	settle(t)
	testserver.ExpectAdmitted(t, newConfigMap(t, ns, nil))
	expectAnnotations(t, ns, nil)
}

// One annotation lists the failures of all policies, at most fifty.
func TestManyAuditedFailures(t *testing.T) {
	t.Parallel()
	ns := admin.Namespace(t, nil)
	for range 2 {
		policy := writePolicy(t, configMaps("CREATE")+"validations:\n"+strings.Repeat("- {expression: 'false', message: nope}\n", 30))
		bind(t, policy, "validationActions: [Audit]\n"+testserver.In(ns))
	}
	settle(t)
	testserver.ExpectAdmitted(t, newConfigMap(t, ns, nil))

	var failures []validating.ValidationFailureValue
	if err := json.Unmarshal([]byte(annotations(t, ns)[failuresAnnotation]), &failures); err != nil {
		t.Fatal(err)
	}
	perPolicy := map[string]int{}
	for _, failure := range failures {
		if failure.Message != "nope" || failure.ExpressionIndex != perPolicy[failure.Policy] {
			t.Errorf("got failure %v, want that of expression %d", failure, perPolicy[failure.Policy])
		}
		perPolicy[failure.Policy]++
	}
	if len(failures) != 50 || len(perPolicy) != 2 {
		t.Errorf("got %d failures of %d policies, want 50 of 2", len(failures), len(perPolicy))
	}
}

// Audit annotations are recorded for every request that a policy matches, denied or not.
func TestAuditAnnotations(t *testing.T) {
	t.Parallel()
	for size, denied := range map[string]bool{"5": false, "6": true} {
		t.Run(size, func(t *testing.T) {
			ns := admin.Namespace(t, nil)
			by := enforce(t, ns, configMaps("CREATE")+`
validations: [{expression: int(object.data.size) <= 5, message: too big}]
auditAnnotations:
- {key: size, valueExpression: "'size is ' + object.data.size"}
- {key: nothing, valueExpression: "null"}
- {key: empty, valueExpression: "''"}
- {key: long, valueExpression: "'123456789 '.split('').map(a, '123456789 '.split('').map(b, '123456789 '.split('').map(c, '123456789 12').join('')).join('')).join('')"}`)
			err := newConfigMap(t, ns, map[string]string{"size": size})
			if denied {
				by.expectInvalid(t, err, "too big")
			} else {
				testserver.ExpectAdmitted(t, err)
			}
			expectAnnotations(t, ns, map[string]string{
				by.policy + "/size": "size is " + size,
				by.policy + "/long": strings.Repeat("123456789 12", 1000)[:10*1024],
			})
		})
	}
}

// Bindings with different params record their values in one annotation, in the order of binding
// names.
func TestAuditAnnotationsOfSeveralBindings(t *testing.T) {
	t.Parallel()
	ns, limits := admin.Namespace(t, nil), admin.Namespace(t, nil)
	newLimit(t, limits, "low", "3", "gold")
	newLimit(t, limits, "high", "5", "gold")
	// After this policy has found a param, the informer is running and other policies find their
	// params at once.
	first := writePolicy(t, limited(limits, configMapKind, "Fail", "params.data.max"))
	denier{first, bind(t, first, paramRef(t, `name: low`))}.expectLimit(t, limits, "4", "at most 3 says low")
	policy := writePolicy(t, configMaps("CREATE")+`
paramKind: `+configMapKind+`
auditAnnotations:
- {key: limit, valueExpression: string(params.data.max)}
- {key: same, valueExpression: string(object.data.size)}`)
	values := map[string]string{}
	for _, limit := range []struct{ name, value string }{{"low", "3"}, {"high", "5"}, {"low", "3"}} {
		binding := bind(t, policy, paramRef(t, `namespace: `+limits+`, name: `+limit.name)+"\n"+testserver.In(ns))
		values[binding] = limit.value
	}
	settle(t)
	var want []string
	for _, binding := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(want, values[binding]) {
			want = append(want, values[binding])
		}
	}
	testserver.ExpectAdmitted(t, newConfigMap(t, ns, map[string]string{"size": "1"}))
	expectAnnotations(t, ns, map[string]string{policy + "/limit": strings.Join(want, ", "), policy + "/same": "1"})
}

// failurePolicy decides whether an error in an audit annotation denies the request.
func TestAuditAnnotationErrors(t *testing.T) {
	t.Parallel()
	for failurePolicy, denied := range map[string]bool{"Fail": true, "Ignore": false} {
		t.Run(failurePolicy, func(t *testing.T) {
			ns := admin.Namespace(t, nil)
			by := enforce(t, ns, configMaps("CREATE")+`
failurePolicy: `+failurePolicy+`
auditAnnotations:
- {key: fine, valueExpression: "'yes'"}
- {key: broken, valueExpression: string(object.data.missing)}`)
			err := newConfigMap(t, ns, map[string]string{"size": "5"})
			if denied {
				by.expectInvalid(t, err, "expression 'string(object.data.missing)' resulted in error: no such key: missing")
			} else {
				testserver.ExpectAdmitted(t, err)
			}
			expectAnnotations(t, ns, map[string]string{by.policy + "/fine": "yes"})
		})
	}
}

// expectAnnotations checks the annotations of policies on the event of the only request that
// created a config map in the namespace.
func expectAnnotations(t *testing.T, namespace string, want map[string]string) {
	t.Helper()
	got := annotations(t, namespace)
	maps.DeleteFunc(got, func(key, _ string) bool {
		return !strings.HasPrefix(key, "policy-") && !strings.HasPrefix(key, "validation.policy.admission.k8s.io/")
	})
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("audit annotations (-want +got):\n%s", diff)
	}
}

// annotations returns the annotations of the only event about objects in the namespace.
func annotations(t *testing.T, namespace string) map[string]string {
	t.Helper()
	return testserver.AuditEvent(t, auditLog, namespace).Annotations
}
