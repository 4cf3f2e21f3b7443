// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"celador.io/admission/policytest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"
	"celador.io/apiserver/pkg/features"
)

// run starts all informers and waits until the plugin is ready.
func (s *server) run(t testing.TB, plugin interface{ WaitForReady() bool }) {
	t.Helper()
	s.kubeInformers.Start(s.stop)
	s.policyInformers.Start(s.stop)
	if !plugin.WaitForReady() {
		t.Fatal("the plugin does not get ready")
	}
}

// startedWith returns a plugin that enforces the manifest files of a directory and the stored
// policies.
func startedWith(t *testing.T, dir string, stored ...runtime.Object) *validatingadmissionpolicy.Plugin {
	t.Helper()
	s, plugin := newServer(t, stored...), newStaticPlugin(t, dir)
	if err := s.load(plugin); err != nil {
		t.Fatal(err)
	}
	s.run(t, plugin)
	return plugin
}

// change returns a request to create an object of the given resource.
func change(group, version, resource string) admission.Attributes {
	r := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	object := newWidget(3)
	object.SetGroupVersionKind(r.GroupVersion().WithKind("Any"))
	return admission.NewAttributesRecord(object, nil, object.GroupVersionKind(), "", "w", r, "", admission.Create, &metav1.CreateOptions{}, false, jane)
}

const byStatic = "ValidatingAdmissionPolicy 'p.static.k8s.io' with binding 'b.static.k8s.io' denied request: "

func TestStaticPoliciesAreEnforced(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"m.yaml": staticPolicy("p.static.k8s.io", `
  matchConditions: [{name: many, expression: "!has(object.spec.replicas) || object.spec.replicas > 1"}],
  validations: [{expression: "object.spec.replicas < 5", message: too many}]`) + "\n---\n" + staticBinding("b.static.k8s.io", toStatic)})
	ours := startedWith(t, dir)

	stock, err := upstream.NewPlugin(configFor("ValidatingAdmissionPolicy", dir))
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t)
	if err := s.load(stock); err != nil {
		t.Fatal(err)
	}
	s.run(t, stock)

	denials := 0
	all := requests()
	for _, resource := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "validatingwebhookconfigurations"} {
		all["create "+resource] = change("admissionregistration.k8s.io", "v1", resource)
	}
	for name, request := range all {
		got, want := text(send(t, ours, request, interfaces()).Err), text(send(t, stock, request, interfaces()).Err)
		if got != want {
			t.Errorf("%s: error is %q, upstream's %q", name, got, want)
		}
		if strings.Contains(got, byStatic+"too many") {
			denials++
		}
	}
	if denials == 0 || denials == len(all) {
		t.Errorf("%d of %d requests are denied", denials, len(all))
	}
}

func TestStaticPoliciesComeFirst(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"m.yaml": good})
	stored := policytest.Validating("a", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false")})
	plugin := startedWith(t, dir, stored, policytest.Binding("a", "a", v1.Warn))

	response := send(t, plugin, create(3), interfaces())
	if got := text(response.Err); !strings.HasSuffix(got, byStatic+"failed expression: false") {
		t.Errorf("error is %q", got)
	}
	if len(response.Warnings) != 1 {
		t.Errorf("warnings of the stored policy: %q", response.Warnings)
	}

	both := startedWith(t, dir, stored, policytest.Binding("a", "a", v1.Deny))
	if got := text(send(t, both, create(3), interfaces()).Err); !strings.HasSuffix(got, byStatic+"failed expression: false") {
		t.Errorf("error is %q, want the denial of the manifest file", got)
	}
}

// Requests for policies and bindings are subject to the policies of manifest files only, even
// before the informers are synced. Excluded resources, such as token reviews, are subject to no
// policies.
func TestStaticPoliciesProtectAdmission(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"m.yaml": good})
	s, plugin := newServer(t, policytest.Validating("a", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false")}), policytest.Binding("a", "a", v1.Warn)), newStaticPlugin(t, dir)
	plugin.SetExcludedAdmissionResources([]schema.GroupResource{{Group: "authentication.k8s.io", Resource: "tokenreviews"}})
	if err := s.load(plugin); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		for _, resource := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"} {
			response := send(t, plugin, change("admissionregistration.k8s.io", "v1", resource), interfaces())
			if got := text(response.Err); !strings.HasSuffix(got, byStatic+"failed expression: false") || response.Warnings != nil {
				t.Errorf("%s, %s: error is %q, warnings %q", when, resource, got, response.Warnings)
			}
		}
		if err := send(t, plugin, change("authentication.k8s.io", "v1", "tokenreviews"), interfaces()).Err; err != nil {
			t.Errorf("%s, tokenreviews: %v", when, err)
		}
	}
	check("not ready")
	s.run(t, plugin)
	check("ready")
}

func TestStaticPoliciesAreReloaded(t *testing.T) {
	dir := t.TempDir()
	plugin := startedWith(t, dir)
	denied := func() bool {
		return strings.HasSuffix(text(send(t, plugin, create(3), interfaces()).Err), byStatic+"failed expression: false")
	}
	if denied() {
		t.Fatal("denied before there is a file")
	}
	for _, step := range []struct {
		content string
		want    bool
	}{
		{good, true},
		{strings.Replace(good, `"false"`, `"true"`, 1), false},
		{good, true},
	} {
		writeFiles(t, dir, map[string]string{"m.yaml": step.content})
		if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			return denied() == step.want, nil
		}); err != nil {
			t.Fatalf("%s\n%v", step.content, err)
		}
	}
}

const (
	noTypeChecking = `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": spec.typeChecking: Forbidden: requires the AdmissionPolicyTypeEnforcement feature gate to be enabled`
	unknownReason  = `spec.validations[0].reason: Unsupported value: "Unknown": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`
)

// onDeployments returns the manifest of a policy on deployments. more holds other fields of its
// spec.
func onDeployments(more string) string {
	return manifestOf("ValidatingAdmissionPolicy", "p.static.k8s.io",
		`{matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: ["*"], resources: [deployments]}]}, `+more+`}`)
}

// Manifest files may use features whose gates are enabled. They must not use disabled features.
func TestStaticFeatures(t *testing.T) {
	for name, test := range map[string]struct {
		gate     string
		manifest string
		off, on  string
		denied   bool
	}{
		"policyType": {
			gate:     string(features.ValidatingAdmissionPolicySingleton),
			manifest: staticPolicy("p.static.k8s.io", never+", policyType: Singleton"),
			off:      `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": spec.policyType: Forbidden: requires the ValidatingAdmissionPolicySingleton feature gate to be enabled`,
			denied:   true,
		},
		"binding to a singleton": {
			gate:     string(features.ValidatingAdmissionPolicySingleton),
			manifest: staticPolicy("p.static.k8s.io", never+", policyType: Singleton") + "\n---\n" + staticBinding("b.static.k8s.io", toStatic),
			off:      `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": spec.policyType: Forbidden: requires the ValidatingAdmissionPolicySingleton feature gate to be enabled`,
			on:       `binding "b.static.k8s.io": spec.policyName "p.static.k8s.io" is a Singleton, which takes effect without a binding`,
		},
		"failurePolicy of a validation": {
			gate:     string(features.ValidatingAdmissionPolicyValidationFailurePolicy),
			manifest: staticPolicy("p.static.k8s.io", `validations: [{expression: "true"}, {expression: "object.nope == 1", failurePolicy: Ignore}]`) + "\n---\n" + staticBinding("b.static.k8s.io", toStatic),
			off:      `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": spec.validations[1].failurePolicy: Forbidden: requires the ValidatingAdmissionPolicyValidationFailurePolicy feature gate to be enabled`,
		},
		"bindingType": {
			gate: string(features.ValidatingAdmissionPolicyFallbackBinding),
			manifest: staticPolicy("p.static.k8s.io", never) + "\n---\n" + staticBinding("b.static.k8s.io", toStatic+", bindingType: Fallback") +
				"\n---\n" + manifestOf("ValidatingAdmissionPolicyBinding", "c.static.k8s.io", "{validationActions: [Audit], "+toStatic+"}"),
			off: `error loading DIR/m.yaml: ValidatingAdmissionPolicyBinding "b.static.k8s.io": spec.bindingType: Forbidden: requires the ValidatingAdmissionPolicyFallbackBinding feature gate to be enabled`,
		},
		"typeChecking": { // policies in manifest files need no verdict
			gate:     string(features.AdmissionPolicyTypeEnforcement),
			manifest: onDeployments(`validations: [{expression: object.spec.replicas > 5}], typeChecking: Enforced`) + "\n---\n" + staticBinding("b.static.k8s.io", toStatic),
			off:      noTypeChecking,
			denied:   true,
		},
		"typeChecking that changes nothing": {
			gate:     string(features.AdmissionPolicyTypeEnforcement),
			manifest: onDeployments(`validations: [{expression: object.spec.relpicas > 5}], typeChecking: Informational`) + "\n---\n" + staticBinding("b.static.k8s.io", toStatic),
			off:      noTypeChecking,
			denied:   true,
		},
		"type errors": {
			gate:     string(features.AdmissionPolicyTypeEnforcement),
			manifest: onDeployments(`validations: [{expression: object.spec.relpicas > 5}], typeChecking: Enforced`),
			off:      noTypeChecking,
			on: `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": spec.validations[0].expression: Invalid value: apps/v1, Kind=Deployment: ` +
				"ERROR: <input>:1:12: undefined field 'relpicas'\n | object.spec.relpicas > 5\n | ...........^",
		},
		"other errors before those of types": {
			gate:     string(features.AdmissionPolicyTypeEnforcement),
			manifest: onDeployments(`validations: [{expression: object.spec.relpicas > 5, reason: Unknown}], typeChecking: Enforced`),
			off: `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": [` + unknownReason +
				`, spec.typeChecking: Forbidden: requires the AdmissionPolicyTypeEnforcement feature gate to be enabled]`,
			on: `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": ` + unknownReason,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{"m.yaml": test.manifest})
			complete := func(message string) string {
				if message == "" {
					return ""
				}
				return strings.ReplaceAll(`failed to load static policy manifests from "DIR": `+message, "DIR", dir)
			}
			if got, want := text(newServer(t).load(newStaticPlugin(t, dir))), complete(test.off); got != want {
				t.Errorf("gate off: error is %q, want %q", got, want)
			}

			s, plugin := newServer(t), newStaticPlugin(t, dir)
			gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
			if err := gates.SetFromMap(map[string]bool{test.gate: true}); err != nil {
				t.Fatal(err)
			}
			s.gates = gates
			got, want := text(s.load(plugin)), complete(test.on)
			if got != want {
				t.Errorf("gate on: error is %q, want %q", got, want)
			}
			if got != "" {
				return
			}
			s.run(t, plugin)
			if err := send(t, plugin, create(3), interfaces()).Err; (err != nil) != test.denied {
				t.Errorf("gate on: got error %v", err)
			}
		})
	}
}
