// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

const (
	missing      = `object.data.missing == 'x'`
	missingError = `expression 'object.data.missing == 'x'' resulted in error: no such key: missing`
	outOfBudget  = `validation failed due to running out of cost budget, no further validation rules will be run`
	ten          = `[0,1,2,3,4,5,6,7,8,9]`
)

// costly returns an expression that is true after evaluating 10^depth combinations.
func costly(depth int) string {
	expression := strings.Repeat("a >= 0 && ", depth) + "true"
	for range depth {
		expression = ten + ".all(a, " + expression + ")"
	}
	return expression
}

// A webhook is called if all conditions are true and not called if one is false. Otherwise
// failurePolicy applies to errors. An exceeded cost budget is an error even if a condition is
// false.
func TestOutcome(t *testing.T) {
	t.Parallel()
	tooCostly := "expression '" + costly(6) + "' resulted in error: operation cancelled: actual cost limit exceeded"
	for name, tc := range map[string]struct {
		conditions []string
		called     bool
		// err is the suffix of the error with failurePolicy Fail. With Ignore, the request is
		// admitted without a call.
		err string
	}{
		"true":                        {conditions: []string{"true"}, called: true},
		"false":                       {conditions: []string{"false"}},
		"error":                       {conditions: []string{missing}, err: missingError},
		"true, error":                 {conditions: []string{"true", missing}, err: missingError},
		"error, true":                 {conditions: []string{missing, "true"}, err: missingError},
		"error, false":                {conditions: []string{missing, "false"}},
		"false, error":                {conditions: []string{"false", missing}},
		"true, error, true, false":    {conditions: []string{"true", missing, "true", "false"}},
		"two errors":                  {conditions: []string{missing, "true", "1 / (request.name == '' ? 1 : 0) > 0"}, err: "[" + missingError + ", expression '1 / (request.name == '' ? 1 : 0) > 0' resulted in error: division by zero]"},
		"same error twice":            {conditions: []string{missing, missing}, err: missingError},
		"error behind a short cut":    {conditions: []string{"true || " + missing}, called: true},
		"error avoided":               {conditions: []string{"has(object.data.missing)"}},
		"too costly":                  {conditions: []string{costly(6)}, err: tooCostly},
		"too costly, false":           {conditions: []string{costly(6), "false"}},
		"costly, but within limits":   {conditions: []string{costly(4), costly(4)}, called: true},
		"too costly taken together":   {conditions: slices.Repeat([]string{costly(4)}, 40), err: outOfBudget},
		"no false counts then":        {conditions: append([]string{"false"}, slices.Repeat([]string{costly(4)}, 40)...), err: outOfBudget},
		"as many as there may be":     {conditions: slices.Repeat([]string{"true"}, 64), called: true},
		"as many, the last one false": {conditions: append(slices.Repeat([]string{"true"}, 63), "false")},
	} {
		for _, kind := range []string{validating, mutating} {
			for _, policy := range []admissionregistrationv1.FailurePolicyType{admissionregistrationv1.Fail, admissionregistrationv1.Ignore} {
				t.Run(name+" "+kind+" "+string(policy), func(t *testing.T) {
					ns, hook := admin.Namespace(t, nil), webhookserver.Admit(t, webhookserver.Allow)
					configure(t, kind, ns, hook, webhook{name: "hook", rule: createConfigMaps, failurePolicy: policy, conditions: tc.conditions})
					_, err := newConfigMap(t, core, ns, "yes")
					if tc.err != "" && policy == admissionregistrationv1.Fail {
						expectForbidden(t, err, tc.err)
					} else {
						testserver.ExpectAdmitted(t, err)
					}
					if tc.called {
						expectCalls(t, hook, "hook")
					} else {
						expectCalls(t, hook)
					}
				})
			}
		}
	}
}

// expectForbidden checks that the creation of a config map is forbidden for the reason.
func expectForbidden(t *testing.T, err error, reason string) {
	t.Helper()
	if !apierrors.IsForbidden(err) || !strings.HasPrefix(err.Error(), `configmaps "data-`) || !strings.HasSuffix(err.Error(), `" is forbidden: `+reason) {
		t.Errorf("got error %v\nwant %s", err, reason)
	}
}

// Each webhook has its own cost budget, and errors of one do not affect another.
func TestWebhooksAreIndependent(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{validating, mutating} {
		t.Run(kind, func(t *testing.T) {
			ns, hook := admin.Namespace(t, nil), webhookserver.Admit(t, webhookserver.Allow)
			// Together they exceed the budget of a single webhook.
			costlies := slices.Repeat([]string{costly(4)}, 15)
			configure(t, kind, ns, hook,
				webhook{name: "costly-1", rule: createConfigMaps, conditions: costlies},
				webhook{name: "failing", rule: createConfigMaps, conditions: []string{missing}, failurePolicy: admissionregistrationv1.Ignore},
				webhook{name: "costly-2", rule: createConfigMaps, conditions: costlies},
				webhook{name: "excluded", rule: createConfigMaps, conditions: []string{"false"}},
				webhook{name: "last", rule: createConfigMaps, conditions: []string{"true"}},
			)
			_, err := newConfigMap(t, core, ns, "yes")
			testserver.ExpectAdmitted(t, err)
			expectCalls(t, hook, "costly-1", "costly-2", "last")
		})
	}
}

// A webhook's answer only affects requests that its conditions let through.
func TestAnswers(t *testing.T) {
	t.Parallel()
	marked := []string{"object.data.mark == 'yes'"}
	for _, kind := range []string{validating, mutating} {
		t.Run("deny "+kind, func(t *testing.T) {
			ns, hook := admin.Namespace(t, nil), webhookserver.Admit(t, webhookserver.Deny("no marks"))
			configure(t, kind, ns, hook, webhook{name: "hook", rule: createConfigMaps, conditions: marked})
			_, err := newConfigMap(t, core, ns, "no")
			testserver.ExpectAdmitted(t, err)
			expectCalls(t, hook)
			_, err = newConfigMap(t, core, ns, "yes")
			if want := `admission webhook "hook` + domain + `" denied the request: no marks`; !apierrors.IsForbidden(err) || err.Error() != want {
				t.Errorf("got error %v\nwant %s", err, want)
			}
			expectCalls(t, hook, "hook")
		})
	}
	// Conditions of later mutating webhooks and of validating webhooks see the changes of earlier
	// ones.
	t.Run("patch", func(t *testing.T) {
		ns, hook := admin.Namespace(t, nil), webhookserver.Admit(t, webhookserver.Patch(`[{"op": "replace", "path": "/data/mark", "value": "patched"}]`))
		configure(t, mutating, ns, hook,
			webhook{name: "first", rule: createConfigMaps, conditions: marked},
			webhook{name: "second", rule: createConfigMaps, conditions: marked},
			webhook{name: "third", rule: createConfigMaps, conditions: []string{"object.data.mark == 'patched'"}},
		)
		validator := webhookserver.Admit(t, webhookserver.Allow)
		configure(t, validating, ns, validator,
			webhook{name: "marked", rule: createConfigMaps, conditions: marked},
			webhook{name: "patched", rule: createConfigMaps, conditions: []string{"object.data.mark == 'patched'"}},
		)
		for mark, want := range map[string]struct {
			mark              string
			calls, validators []string
		}{
			"yes": {mark: "patched", calls: []string{"first", "third"}, validators: []string{"patched"}},
			"no":  {mark: "no"},
		} {
			created := testserver.Must(newConfigMap(t, core, ns, mark))(t)
			if created.Data["mark"] != want.mark {
				t.Errorf("%s: got mark %q, want %q", mark, created.Data["mark"], want.mark)
			}
			expectCalls(t, hook, want.calls...)
			expectCalls(t, validator, want.validators...)
		}
	})
}
