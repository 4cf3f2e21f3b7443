// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"celador.io/admission/policytest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/apiserver/pkg/admission/plugin/mutatingadmissionpolicy"
)

func TestRegister(t *testing.T) {
	plugins := admission.NewPlugins()
	mutatingadmissionpolicy.Register(plugins)
	if got := plugins.Registered(); !slices.Equal(got, []string{"MutatingAdmissionPolicy"}) {
		t.Errorf("registered %q", got)
	}
	plugin, err := plugins.InitPlugin(mutatingadmissionpolicy.PluginName, nil, admission.PluginInitializers{})
	if err != nil {
		t.Fatal(err)
	}
	for operation, want := range map[admission.Operation]bool{admission.Create: true, admission.Update: true, admission.Connect: true, admission.Delete: false} {
		if got := plugin.Handles(operation); got != want {
			t.Errorf("handles %s: got %t, want %t", operation, got, want)
		}
	}
	if _, validates := plugin.(admission.ValidationInterface); validates {
		t.Error("the plugin validates")
	}
}

func TestConfiguration(t *testing.T) {
	for name, test := range map[string]struct{ file, want string }{
		"empty":       {header, ""},
		"from files":  {header + "staticManifestsDir: " + t.TempDir() + "\n", ""},
		"no such dir": {header + "staticManifestsDir: /nowhere/at/all\n", `staticManifestsDir: Invalid value: "/nowhere/at/all": unable to read: stat /nowhere/at/all: no such file or directory`},
		"of another":  {strings.Replace(header, "Mutating", "Validating", 1), "unexpected type: *policyconfig.ValidatingAdmissionPolicyConfiguration"},
	} {
		_, err := mutatingadmissionpolicy.New(strings.NewReader(test.file))
		if got := text(err); got != test.want {
			t.Errorf("%s: got error %q, want %q", name, got, test.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// ValidateInitialization returns an error if a dependency is missing and the feature gate is
// enabled.
func TestMissingDependencies(t *testing.T) {
	for enabled, want := range map[bool]string{true: "missing ", false: ""} {
		plugin := newPlugin(t, "")
		plugin.InspectFeatureGates(newServer(t, enabled, false).gates)
		if got := text(plugin.ValidateInitialization()); got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("enabled %t: got error %q, want %q", enabled, got, want)
		}
	}
}

func TestGateOff(t *testing.T) {
	s := newServer(t, false, false, policytest.Mutating("p", policytest.SetData("b", "'2'")), bindingOf("p"))
	plugin := newPlugin(t, "")
	if err := s.initialize(plugin); err != nil {
		t.Fatal(err)
	}
	data, status := create(t, plugin)
	if diff := cmp.Diff(map[string]string{"a": "1"}, data); diff != "" || status != nil {
		t.Errorf("got %v, data (-want +got):\n%s", status, diff)
	}
}

// Requests are rejected until the informers of policies are synced.
func TestNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, true, false, policytest.Mutating("p", policytest.SetData("b", "'2'")), bindingOf("p"))
		plugin := newPlugin(t, "")
		if err := s.initialize(plugin); err != nil {
			t.Fatal(err)
		}
		if _, status := create(t, plugin); status == nil || status.Message != `configmaps "data" is forbidden: not yet ready to handle request` {
			t.Errorf("got %v, want a refusal", status)
		}
		s.start()
		data, status := create(t, plugin)
		if diff := cmp.Diff(map[string]string{"a": "1", "b": "2"}, data); diff != "" || status != nil {
			t.Errorf("got %v, data (-want +got):\n%s", status, diff)
		}
	})
}

// The error for clients has the message of the first failure and the messages of all failures as
// causes. Its code is Forbidden unless the mutation has a reason or refuses the request.
func TestRefusals(t *testing.T) {
	missing := policytest.SetData("b", "object.data.missing")
	const text = `expression '[JSONPatch{op: "add", path: "/data/b", value: object.data.missing}]' resulted in error: no such key: missing`
	by := func(policy, text string) string {
		return "policy '" + policy + "' with binding '" + policy + "' denied request: " + text
	}
	for name, test := range map[string]struct {
		objects []runtime.Object
		want    *metav1.Status
	}{
		"error":         {[]runtime.Object{policytest.Mutating("p", missing), bindingOf("p")}, refusal(403, "Invalid", by("p", text))},
		"ignored error": {[]runtime.Object{ignoring(policytest.Mutating("p", missing)), bindingOf("p")}, nil},
		"two errors": {[]runtime.Object{policytest.Mutating("p", missing), bindingOf("p"), ignoring(policytest.Mutating("q", missing)), bindingOf("q"), policytest.Mutating("r", missing), bindingOf("r")},
			refusal(403, "Invalid", by("p", text), by("r", text))},
		"refused":             {[]runtime.Object{policytest.Mutating("p", v1.Mutation{Expression: new("false")}), bindingOf("p")}, refusal(422, "Invalid", by("p", "expression evaluated to false"))},
		"refused with reason": {[]runtime.Object{policytest.Mutating("p", v1.Mutation{Expression: new("false"), Reason: new(metav1.StatusReasonForbidden), Message: new("no")}), bindingOf("p")}, refusal(403, "Forbidden", by("p", "no"))},
		"too large": {[]runtime.Object{policytest.Mutating("p", v1.Mutation{Expression: new("false"), Reason: new(metav1.StatusReasonRequestEntityTooLarge), Message: new("no")}), bindingOf("p")},
			refusal(413, "RequestEntityTooLarge", by("p", "no"))},
		"refused by one that ignores failures": {[]runtime.Object{ignoring(policytest.Mutating("p", v1.Mutation{Expression: new("false")})), bindingOf("p")}, refusal(422, "Invalid", by("p", "expression evaluated to false"))},
		"not configured": {[]runtime.Object{withParamKind(policytest.Mutating("p", policytest.SetData("b", "params.data.b"))), bindingOf("p")},
			refusal(403, "Forbidden", `policy "p" denied request: failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Rule'`)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				data, got := create(t, started(t, true, test.objects...))
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("status (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(map[string]string{"a": "1"}, data); diff != "" {
					t.Errorf("data (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func refusal(code int32, reason metav1.StatusReason, messages ...string) *metav1.Status {
	status := &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: messages[0], Details: &metav1.StatusDetails{Name: "data", Kind: "configmaps"}}
	for _, message := range messages {
		status.Details.Causes = append(status.Details.Causes, metav1.StatusCause{Message: message})
	}
	return status
}

func ignoring(p *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicy {
	p.Spec.FailurePolicy = new(v1.Ignore)
	return p
}

func withParamKind(p *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicy {
	p.Spec.ParamKind = &v1.ParamKind{APIVersion: "rules.example.com/v1", Kind: "Rule"}
	return p
}

const (
	static = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: p.static.k8s.io}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  reinvocationPolicy: Never
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "add", path: "/data/b", value: "2"}]'}}]
`
	staticBinding = `---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: p.static.k8s.io}
spec: {policyName: p.static.k8s.io}
`
)

// Policies in manifest files apply before stored policies. The server does not start if a manifest
// file is invalid or needs a disabled feature.
func TestManifests(t *testing.T) {
	inline := func(mutation string) string {
		return static[:strings.Index(static, "mutations:")] + "mutations: [" + mutation + "]\n"
	}
	const gate = "Forbidden: requires the MutatingAdmissionPolicyInlineExpressions feature gate to be enabled"
	for name, test := range map[string]struct {
		content string
		alpha   bool
		want    string
	}{
		"good":              {static + staticBinding, false, ""},
		"inline expression": {inline("{expression: 'null'}") + staticBinding, true, ""},
		"merge patch":       {inline("{patchType: JSONMergePatch, jsonMergePatch: {expression: '{}'}}") + staticBinding, true, ""},
		"expression, off":   {inline("{expression: 'null'}"), false, "spec.mutations[0].expression: " + gate},
		"condition, off":    {strings.Replace(static, "{patchType", "{condition: 'true', patchType", 1), false, "spec.mutations[0].condition: " + gate},
		"message, off":      {strings.Replace(static, "{patchType", "{message: 'no', patchType", 1), false, "spec.mutations[0].message: " + gate},
		"reason, off":       {strings.Replace(static, "{patchType", "{reason: Forbidden, patchType", 1), false, "spec.mutations[0].reason: " + gate},
		"reinvocation, off": {strings.Replace(static, "{patchType", "{reinvocationPolicy: Never, patchType", 1), false, "spec.mutations[0].reinvocationPolicy: " + gate},
		"merge patch, off":  {inline("{patchType: JSONMergePatch, jsonMergePatch: {expression: '{}'}}"), false, "spec.mutations[0].jsonMergePatch: " + gate},
		"strategic, off":    {inline("{patchType: StrategicMergePatch, strategicMergePatch: {expression: '{}'}}"), false, "spec.mutations[0].strategicMergePatch: " + gate},
		"types, off":        {strings.Replace(static, "spec:", "spec:\n  typeChecking: Enforced", 1), false, "spec.typeChecking: Forbidden: requires the AdmissionPolicyTypeEnforcement feature gate to be enabled"},
		"types":             {strings.Replace(static, "spec:", "spec:\n  typeChecking: Enforced", 1) + staticBinding, true, ""},
		"wrong types": {strings.Replace(strings.Replace(static, "spec:", "spec:\n  typeChecking: Enforced", 1), `"2"`, "object.dada", 1) + staticBinding, true,
			"spec.mutations[0].jsonPatch.expression: Invalid value: /v1, Kind=ConfigMap: ERROR: <input>:1:53: undefined field 'dada'"},
		"wrong expression":    {strings.Replace(static, "JSONPatch{op", "JSONPath{op", 1), false, "spec.mutations[0].jsonPatch.expression: Invalid value"},
		"wrong name":          {strings.Replace(static, "p.static.k8s.io", "p", 1), false, `"p" in file "DIR/m.yaml" must have a name ending with ".static.k8s.io"`},
		"params":              {strings.Replace(static, "spec:", "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}", 1), false, "spec.paramKind is not supported for static manifests"},
		"lookups":             {strings.Replace(static, "spec:", "spec:\n  lookups: [{name: a, apiVersion: v1, kind: Secret}]", 1), true, "spec.lookups: Forbidden: lookups are not supported for static manifests"},
		"binding to nothing":  {staticBinding, false, `binding "p.static.k8s.io" references policy "p.static.k8s.io" which does not exist in the manifest directory`},
		"validating policies": {strings.Replace(static, "MutatingAdmissionPolicy", "ValidatingAdmissionPolicy", 1), false, "error loading DIR/m.yaml: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			err := newServer(t, true, test.alpha).initialize(newPlugin(t, dir))
			want := strings.ReplaceAll(test.want, "DIR", dir)
			if got := text(err); got != want && (want == "" || !strings.Contains(got, want)) {
				t.Errorf("got error %q, want %q", got, want)
			}
		})
	}
}

func TestManifestsComeFirst(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(static+staticBinding), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, true, false, policytest.Mutating("a", policytest.SetData("c", "object.data.b + '3'")), bindingOf("a"))
	plugin := newPlugin(t, dir)
	if err := s.initialize(plugin); err != nil {
		t.Fatal(err)
	}
	s.kubeInformers.Start(s.stop)
	s.policyInformers.Start(s.stop)
	var data map[string]string
	var status *metav1.Status
	// The schemas are fetched in the background.
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		data, status = create(t, plugin)
		return status == nil, nil
	})
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2", "c": "23"}, data); diff != "" || err != nil {
		t.Errorf("got %v, data (-want +got):\n%s", status, diff)
	}
}
