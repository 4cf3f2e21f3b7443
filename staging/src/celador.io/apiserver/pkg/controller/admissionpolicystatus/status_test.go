// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	v1 "celador.io/api/admissionregistration/v1"
)

// onDeployments is the part of a spec in YAML that matches deployments.
const onDeployments = `matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}, `

func TestConditions(t *testing.T) {
	type conditions struct{ available, checked string } // status, reason and message
	const (
		configured = "True Configured "
		noErrors   = "True NoTypeErrors "
	)
	for name, tc := range map[string]struct {
		spec    string
		enforce bool
		want    conditions
	}{
		"fits": {
			spec: `{` + onDeployments + `validations: [{expression: object.spec.replicas < 5}]}`,
			want: conditions{configured, noErrors},
		},
		"does not fit": {
			spec: `{` + onDeployments + `validations: [{expression: object.spec.x < 5}, {expression: object.spec.y < 5}]}`,
			want: conditions{configured, "False TypeErrors Expressions do not fit types: spec.validations[0].expression, spec.validations[1].expression. See status.typeChecking."},
		},
		"does not fit, Enforced without the gate": {
			spec: `{` + onDeployments + `validations: [{expression: object.spec.x < 5}], typeChecking: Enforced}`,
			want: conditions{configured, "False TypeErrors Expressions do not fit types: spec.validations[0].expression. See status.typeChecking."},
		},
		"does not fit, Enforced": {
			spec: `{` + onDeployments + `validations: [{expression: object.spec.x < 5}], typeChecking: Enforced}`, enforce: true,
			want: conditions{
				"False Misconfigured spec.validations[0].expression does not fit apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'x'\n | object.spec.x < 5\n | ...........^",
				"False TypeErrors Expressions do not fit types: spec.validations[0].expression. See status.typeChecking.",
			},
		},
		"does not fit, Informational": {
			spec: `{` + onDeployments + `validations: [{expression: object.spec.x < 5}], typeChecking: Informational}`, enforce: true,
			want: conditions{configured, "False TypeErrors Expressions do not fit types: spec.validations[0].expression. See status.typeChecking."},
		},
		"does not fit behind has(), Enforced": {
			spec: `{matchConstraints: {resourceRules: [
				{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]},
				{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: ["*"]}]},
				validations: [{expression: has(object.spec) && has(object.spec.x) && object.spec.x < 5}], typeChecking: Enforced}`, enforce: true,
			want: conditions{configured, "False TypeErrors Expressions do not fit types: spec.validations[0].expression. See status.typeChecking."},
		},
		"does not compile": {
			spec: `{` + onDeployments + `variables: [{name: a, expression: b}], matchConditions: [{name: c, expression: "1"}], validations: [{expression: "1 +", messageExpression: "2"}], auditAnnotations: [{key: k, valueExpression: "3"}]}`,
			want: conditions{
				"False Misconfigured " +
					"spec.variables[0].expression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'b' (in container '')\n | b\n | ^\n" +
					"spec.matchConditions[0].expression: must evaluate to bool but got int\n" +
					"spec.validations[0].expression: compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 +\n | ...^\n" +
					"spec.validations[0].messageExpression: must evaluate to string but got int\n" +
					"spec.auditAnnotations[0].valueExpression: must evaluate to one of [string null_type] but got int",
				"False TypeErrors Expressions do not fit types: spec.variables[0].expression, spec.validations[0].expression. See status.typeChecking.",
			},
		},
		"no such resource": {
			spec: `{matchConstraints: {resourceRules: [{apiGroups: [apps, ""], apiVersions: [v1], operations: [CREATE], resources: [deployments, gadgets]}]}, validations: [{expression: "true"}]}`,
			want: conditions{
				"False Misconfigured spec.matchConstraints.resourceRules[0].resources[1]: no custom resource definition or API server serves gadgets in apps/v1, v1",
				"Unknown TypesNotFound spec.matchConstraints.resourceRules[0].resources[1]: no custom resource definition or API server serves gadgets in apps/v1, v1",
			},
		},
		"no such kind of parameters": {
			spec: `{` + onDeployments + `paramKind: {apiVersion: apps/v1, kind: Scale}, validations: [{expression: "true"}]}`,
			want: conditions{
				"False Misconfigured spec.paramKind: no custom resource definition or API server serves kind Scale of apps/v1",
				"Unknown TypesNotFound spec.paramKind: no custom resource definition or API server serves kind Scale of apps/v1",
			},
		},
		"wildcard": {
			spec: `{matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: [deployments, pods/status]}]}, validations: [{expression: "true"}]}`,
			want: conditions{configured, `Unknown TypesNotChecked spec.matchConstraints.resourceRules[0].apiGroups: types behind "*" are not checked`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, policy(t, tc.spec, "{}"))
				c.enforce = tc.enforce
				c.run(t)
				sent := c.patches(t)
				if len(sent) != 1 {
					t.Fatalf("got %d writes, want one", len(sent))
				}
				var got conditions
				for name, into := range map[string]*string{v1.PolicyConditionAvailable: &got.available, v1.PolicyConditionTypeChecked: &got.checked} {
					condition := find(sent[0].Status.Conditions, name)
					*into = string(condition.Status) + " " + condition.Reason + " " + condition.Message
					if condition.ObservedGeneration != 2 || condition.LastTransitionTime.IsZero() {
						t.Errorf("got condition %+v, want generation 2 and the time", condition)
					}
				}
				if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(conditions{})); diff != "" {
					t.Errorf("conditions (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func find(conditions []metav1.Condition, name string) metav1.Condition {
	for _, condition := range conditions {
		if condition.Type == name {
			return condition
		}
	}
	return metav1.Condition{}
}

// Checks are repeated while an aggregated server does not answer. The first attempts do not write
// the status.
func TestUnavailable(t *testing.T) {
	const spec = `{matchConstraints: {resourceRules: [{apiGroups: [metrics.io], apiVersions: [v1], operations: [CREATE], resources: [podmetrics]}]}, validations: [{expression: object.usage < 5}]}`
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, spec, "{}"))
		c.aggregated = []string{"metrics.io/v1"}
		up := c.down("metrics.io/v1")
		c.start(t)
		time.Sleep(time.Second)
		synctest.Wait()
		if sent := c.patches(t); len(sent) > 0 {
			t.Errorf("the status is written at once: %+v", sent)
		}
		if verdicts := c.verdicts.all(); len(verdicts) < 3 {
			t.Errorf("got %d verdicts, want several", len(verdicts))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if sent := c.patches(t); len(sent) == 0 || find(sent[0].Status.Conditions, v1.PolicyConditionAvailable).Reason != v1.PolicyReasonTypesUnavailable {
			t.Errorf("got writes %+v after a minute, want Available to be unknown", sent)
		}
		up()
		time.Sleep(time.Hour)
		synctest.Wait()
		sent := c.patches(t)
		last := sent[len(sent)-1].Status
		if find(last.Conditions, v1.PolicyConditionAvailable).Status != metav1.ConditionTrue {
			t.Errorf("got %+v when the server is there, want Available", last)
		}
	})
}

// The status keeps better findings, which are from before an aggregated server became unavailable.
// Findings that do not depend on such a server are written once, because the spec may have changed
// before the controller started.
func TestBetterStatusStays(t *testing.T) {
	for name, tc := range map[string]struct {
		spec, available, checked string
		written                  bool
	}{
		"unknown now, known before": {spec: onMetrics, available: "True", checked: "True"},
		"unknown now and before":    {spec: onMetrics, available: "Unknown", checked: "Unknown"},
		"missing now, not before":   {spec: onGadgets, available: "True", checked: "True"},
		"missing now and before":    {spec: onGadgets, available: "False", checked: "Unknown"},
		"fits now, not before":      {spec: fitting, available: "True", checked: "False", written: true},
		"does not fit, but did":     {spec: strings.ReplaceAll(fitting, "replicas", "replcias"), available: "True", checked: "True", written: true},
		"available now, not before": {spec: fitting, available: "False", checked: "True", written: true},
		"known now, not before":     {spec: fitting, available: "Unknown", checked: "Unknown", written: true},
		"checked now, not before":   {spec: fitting, available: "True", checked: "Unknown", written: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				status := recorded("2", "")
				status = strings.Replace(status, `Available, status: "True"`, `Available, status: "`+tc.available+`"`, 1)
				status = strings.Replace(status, `TypeChecked, status: "True"`, `TypeChecked, status: "`+tc.checked+`"`, 1)
				c := newCluster(t, policy(t, tc.spec, status))
				c.aggregated = []string{"metrics.io/v1"}
				c.down("metrics.io/v1")
				c.run(t)
				if len(c.verdicts.all()) == 0 {
					t.Error("the policy is not checked")
				}
				if sent := c.patches(t); len(sent) > 0 != tc.written {
					t.Errorf("got writes %+v, want one: %t", sent, tc.written)
				}
			})
		})
	}
}

const (
	onMetrics = `{matchConstraints: {resourceRules: [{apiGroups: [metrics.io], apiVersions: [v1], operations: [CREATE], resources: [podmetrics]}]}, validations: [{expression: object.usage < 5}]}`
	onGadgets = `{matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [gadgets]}]}, validations: [{expression: "true"}]}`
	fitting   = `{` + onDeployments + `validations: [{expression: object.spec.replicas < 5}]}`
)

// A write that fails because the policy has changed is not retried, since the change causes another
// check. Writes that fail for other reasons are retried.
func TestRefusedWrites(t *testing.T) {
	resource := schema.GroupResource{Group: v1.GroupName, Resource: "validatingadmissionpolicies"}
	for name, tc := range map[string]struct {
		err      error
		repeated bool
	}{
		"conflict":  {err: apierrors.NewConflict(resource, "p", errors.New("changed"))},
		"not found": {err: apierrors.NewNotFound(resource, "p")},
		"forbidden": {err: apierrors.NewForbidden(resource, "p", errors.New("no")), repeated: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, policy(t, fitting, "{}"))
				c.policies.PrependReactor("patch", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
				c.run(t)
				if sent := len(c.patches(t)); sent == 0 || sent > 1 != tc.repeated {
					t.Errorf("got %d writes, want more than one: %t", sent, tc.repeated)
				}
				if verdicts := c.verdicts.all(); len(verdicts) != 1 {
					t.Errorf("got verdicts %q, want one", verdicts)
				}
				if events := c.events(t); len(events) > 0 {
					t.Errorf("got events although no status is written: %v", events)
				}
			})
		})
	}
}

// A check that panics is retried, and other policies are checked meanwhile.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, onMetrics, "{}"))
		other := policy(t, fitting, "{}")
		other.Name = "q"
		if err := c.policies.Tracker().Add(other); err != nil {
			t.Fatal(err)
		}
		c.aggregated = []string{"metrics.io/v1"}
		c.discovery.panics.Store(true)
		before := syncErrors(t)
		c.run(t)
		if sent := c.patches(t); len(sent) != 1 || sent[0].Metadata.Name != "q" {
			t.Errorf("wrote %+v, want q written", sent)
		}
		if got := syncErrors(t) - before; got < 2 {
			t.Errorf("counted %v errors, want several", got)
		}
		c.discovery.panics.Store(false)
		time.Sleep(time.Hour)
		synctest.Wait()
		if sent := c.patches(t); len(sent) != 2 || sent[1].Metadata.Name != "p" {
			t.Errorf("wrote %+v, want p written as well", sent)
		}
	})
}

// Stores receive a verdict after each check, whether the status is written or not.
func TestVerdicts(t *testing.T) {
	const size = "{size: {type: string}}"
	wrong := "spec.validations[0].expression does not fit example.com/v1, Kind=Widget: ERROR: <input>:1:18: found no matching overload for '_<_' applied to '(string, int)'\n" +
		" | object.spec.size < 5\n | .................^"
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, onWidgets, recorded("3", "")))
		c.run(t)
		c.expectVerdicts(t, "ValidatingAdmissionPolicy p p-uid 2: <nil>")
		c.define(t, widgets(t, "a", 1, size))
		c.settle()
		c.expectVerdicts(t, "ValidatingAdmissionPolicy p p-uid 2: "+wrong)

		client := c.definitions.ApiextensionsV1().CustomResourceDefinitions()
		labelled := widgets(t, "a", 1, size)
		labelled.Labels = map[string]string{"nothing": "changes"}
		update(t, client.Update, labelled)
		c.settle()
		c.expectVerdicts(t)
		update(t, client.Update, widgets(t, "a", 2, "{size: {type: integer}}"))
		c.settle()
		c.expectVerdicts(t, "ValidatingAdmissionPolicy p p-uid 2: <nil>")
		if err := client.Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.settle()
		c.expectVerdicts(t, "ValidatingAdmissionPolicy p p-uid 2: <nil>")

		policies := c.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		changed := policy(t, onWidgets, recorded("2", ""))
		changed.Labels = map[string]string{"nothing": "changes"}
		update(t, policies.Update, changed)
		c.settle()
		c.expectVerdicts(t)
		changed.Generation = 3
		update(t, policies.Update, changed)
		c.settle()
		c.expectVerdicts(t, "ValidatingAdmissionPolicy p p-uid 3: <nil>")
		if err := policies.Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.settle()
		c.expectVerdicts(t, "forget ValidatingAdmissionPolicy p")
	})
}

// An event is recorded when a policy becomes unavailable, and when it is available again.
func TestEvents(t *testing.T) {
	for name, tc := range map[string]struct{ spec, before, want string }{
		"available from the start": {spec: fitting, before: "{}"},
		"not from the start":       {spec: onGadgets, before: "{}", want: "Warning Misconfigured"},
		"no longer":                {spec: onGadgets, before: recorded("1", ""), want: "Warning Misconfigured"},
		"still":                    {spec: fitting, before: recorded("1", "")},
		"still not":                {spec: onGadgets, before: strings.ReplaceAll(recorded("1", ""), `"True"`, `"False"`)},
		"type errors":              {spec: strings.ReplaceAll(fitting, "replicas", "replcias"), before: "{}", want: "Warning TypeErrors"},
		"again":                    {spec: fitting, before: strings.ReplaceAll(recorded("1", ""), `"True"`, `"False"`), want: "Normal Configured"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, policy(t, tc.spec, tc.before))
				c.run(t)
				var got []string
				for _, event := range c.events(t) {
					got = append(got, event.Type+" "+event.Reason)
					if event.Namespace != metav1.NamespaceDefault || event.Regarding.Name != "p" || event.Regarding.UID != "p-uid" {
						t.Errorf("got event %+v, want one about p", event)
					}
				}
				if strings.Join(got, ", ") != tc.want {
					t.Errorf("got events %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// Texts are truncated, and warnings left out, to fit into a status.
func TestLongTexts(t *testing.T) {
	for name, tc := range map[string]struct {
		expressions, length int
		want                int // warnings
		last                string
	}{
		"long":          {expressions: 200, length: 4000, want: 200, last: "apps/v1, Kind=Deployment: ERROR: "},
		"many":          {expressions: 1000, length: 1, want: 1000, last: "apps/v1, Kind=Deployment: ERROR: "},
		"too many":      {expressions: 1001, length: 1, want: 1000, last: "2 warnings are left out, of this expression and those after it"},
		"many and long": {expressions: 3000, length: 200, want: 1000, last: "2001 warnings are left out, of this expression and those after it"},
	} {
		t.Run(name, func(t *testing.T) {
			validation := `{expression: "object.spec.x == '` + strings.Repeat("a", tc.length) + `'"}, `
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, policy(t, `{`+onDeployments+`typeChecking: Enforced, validations: [`+strings.Repeat(validation, tc.expressions)+`]}`, "{}"))
				c.enforce = true
				c.run(t)
				status := c.patches(t)[0].Status
				size := 0
				for i, warning := range status.TypeChecking.ExpressionWarnings {
					size += len(warning.FieldRef) + len(warning.Warning)
					if want := fmt.Sprintf("spec.validations[%d].expression", i); warning.FieldRef != want || len(warning.Warning) < 50 {
						t.Fatalf("got warning %+v, want one of %s", warning, want)
					}
				}
				if got := len(status.TypeChecking.ExpressionWarnings); got != tc.want || size > 256<<10 {
					t.Fatalf("got %d warnings of %d bytes, want %d of no more than 256 kB", got, size, tc.want)
				}
				if last := status.TypeChecking.ExpressionWarnings[tc.want-1].Warning; !strings.HasPrefix(last, tc.last) {
					t.Errorf("the last warning is %q, want %q", last, tc.last)
				}
				for _, condition := range status.Conditions {
					if len(condition.Message) > 32<<10 || len(condition.Message) < 4<<10 {
						t.Errorf("the message of %s has %d bytes, want some and no more than 32 kB", condition.Type, len(condition.Message))
					}
				}
				if message := find(status.Conditions, v1.PolicyConditionAvailable).Message; !strings.HasSuffix(message, " ...") {
					t.Error("the message of Available does not tell that it is cut")
				}
				if verdicts := c.verdicts.all(); len(verdicts[0]) > 3<<10 {
					t.Errorf("the verdict has %d bytes", len(verdicts[0]))
				}
			})
		})
	}
}

// Short lists of names have more combinations than are looked up. The resources then do not count
// as not found.
func TestManyCombinations(t *testing.T) {
	names := func(prefix string, count int) []string {
		var all []string
		for i := range count {
			all = append(all, fmt.Sprintf("%s%d", prefix, i))
		}
		return all
	}
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, fitting, "{}")
		p.Spec.MatchConstraints.ResourceRules[0].Rule = v1.Rule{APIGroups: names("g", 1000), APIVersions: names("v", 100), Resources: names("r", 1000)}
		c := newCluster(t, p)
		c.run(t)
		sent := c.patches(t)
		if len(sent) != 1 {
			t.Fatalf("got %d writes, want one", len(sent))
		}
		checked := find(sent[0].Status.Conditions, v1.PolicyConditionTypeChecked)
		if got := find(sent[0].Status.Conditions, v1.PolicyConditionAvailable); got.Status != metav1.ConditionTrue || checked.Reason != v1.PolicyReasonTypesNotChecked || !strings.Contains(checked.Message, "combinations") {
			t.Errorf("got conditions %v, want Available and why not all is checked", sent[0].Status.Conditions)
		}
	})
}
