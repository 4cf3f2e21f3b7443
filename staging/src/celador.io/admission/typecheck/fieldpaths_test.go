// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"slices"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
)

func about(fieldPath string) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) { s.Validations[0].FieldPath = &fieldPath }
}

// A fieldPath that leads to a field of no kind is a warning, which does not keep an Enforced policy
// from deciding.
func TestFieldPaths(t *testing.T) {
	onDeployment := func(message string) []string { return []string{"apps/v1, Kind=Deployment: " + message} }
	for name, test := range map[string]struct {
		path   string
		change []func(*v1.ValidatingAdmissionPolicySpec)
		want   []string
	}{
		"a field":                    {path: "spec.replicas"},
		"the dot of CRD rules":       {path: ".spec.template.spec.containers"},
		"a label":                    {path: "metadata.labels['example.com/team']"},
		"metadata":                   {path: "metadata.name"},
		"apiVersion":                 {path: "apiVersion"},
		"misspelt":                   {path: "spec.relpicas", want: onDeployment(`spec has no field "relpicas": did you mean "replicas"?`)},
		"misspelt at the start":      {path: "sepc.replicas", want: onDeployment(`the object has no field "sepc": did you mean "spec"?`)},
		"unlike any field":           {path: "spec.template.zone", want: onDeployment(`spec.template has no field "zone"`)},
		"below a scalar":             {path: "spec.replicas.max", want: onDeployment(`spec.replicas has type int, and no field "max"`)},
		"below a list":               {path: "spec.template.spec.containers.image", want: onDeployment(`spec.template.spec.containers is a list, and has no field "image"`)},
		"below a label":              {path: "metadata.labels.a.b", want: onDeployment(`metadata.labels.a has type string, and no field "b"`)},
		"a path that does not parse": {path: "spec["},
		"a field of one kind":        {path: "spec.hostname", change: []func(*v1.ValidatingAdmissionPolicySpec){rule("", "v1", "pods"), rule("apps", "v1", "deployments")}},
		"a field of no kind": {
			path: "spec.hostnmae", change: []func(*v1.ValidatingAdmissionPolicySpec){rule("", "v1", "pods"), rule("apps", "v1", "deployments")},
			want: []string{`/v1, Kind=Pod: spec has no field "hostnmae": did you mean "hostname"?`, `apps/v1, Kind=Deployment: spec has no field "hostnmae"`},
		},
		"kinds that are not known": {path: "spec.hostnmae", change: []func(*v1.ValidatingAdmissionPolicySpec){rule("", "v1", "pods"), rule("example.com", "*", "*")}},
		"a kind without a schema":  {path: "spec.hostnmae", change: []func(*v1.ValidatingAdmissionPolicySpec){rule("", "v1", "pods"), rule("example.com", "v1", "widgets")}},
		"no type that is checked":  {path: "spec.nothing", change: []func(*v1.ValidatingAdmissionPolicySpec){rule("*", "*", "*")}},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy("true", append(slices.Clone(test.change), about(test.path))...)
			p.Spec.TypeChecking = new(v1.EnforcedTypeChecking)
			result := checker(t, mapperFor(deployment, pod, widget), builtIn).CheckValidating(p)
			var got []string
			for _, f := range result.Findings {
				if f.Field != "spec.validations[0].fieldPath" {
					t.Errorf("finding in %s", f.Field)
				}
				got = append(got, f.On()+": "+f.Message)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if warnings := result.StatusWarnings(); (len(warnings) == 1) != (test.want != nil) {
				t.Errorf("warnings of the status: %+v", warnings)
			}
			if warnings := result.ClientWarnings(); (len(warnings) > 0) != (test.want != nil) {
				t.Errorf("warnings to the client: %q", warnings)
			}
			if err := result.Err(); err != nil {
				t.Errorf("the policy must not decide: %v", err)
			}
		})
	}
	// A custom resource may have fields that its schema does not specify.
	open := widgetSpec(nil)
	open.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	p := policy("true", rule("example.com", "v1", "widgets"), about("status.anything"))
	if got := checker(t, mapperFor(widget), schemas{}.with(widget, open)).CheckValidating(p).Findings; got != nil {
		t.Errorf("unknown fields: %+v", got)
	}
}
