// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	upstreamadmission "k8s.io/kubernetes/pkg/kubeapiserver/admission"

	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

// manifestOf returns a YAML document that item can convert to a flow mapping.
func manifestOf(kind, name, spec string) string {
	return headOf(kind) + "metadata: {name: " + name + "}\nspec: " + spec
}

func headOf(kind string) string {
	return "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "\n"
}

func item(document string) string { return "{" + strings.ReplaceAll(document, "\n", ", ") + "}" }

func listOf(head string, documents ...string) string {
	var items []string
	for _, document := range documents {
		items = append(items, item(document))
	}
	return head + "items: [" + strings.Join(items, ", ") + "]"
}

func staticPolicy(name, more string) string {
	return manifestOf("ValidatingAdmissionPolicy", name,
		`{matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}, `+more+`}`)
}

func staticBinding(name, more string) string {
	return manifestOf("ValidatingAdmissionPolicyBinding", name, `{validationActions: [Deny], `+more+`}`)
}

const (
	never    = `validations: [{expression: "false"}]`
	toStatic = `policyName: p.static.k8s.io`
)

var good = staticPolicy("p.static.k8s.io", never) + "\n---\n" + staticBinding("b.static.k8s.io", toStatic)

// writeFiles writes files and replaces each existing file atomically.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path+".new", []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
}

func configFor(plugin, dir string) *strings.Reader {
	return strings.NewReader("apiVersion: apiserver.config.k8s.io/v1\nkind: " + plugin + "Configuration\nstaticManifestsDir: " + dir + "\n")
}

// load initializes a plugin with the initializers of kube-apiserver.
func (s *server) load(plugin admission.Interface) error {
	dynamicClient := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	admission.PluginInitializers{
		initializer.NewAPIServerIDInitializer("the-server"),
		initializer.New(s.kube, dynamicClient, s.kubeInformers, s.authorizer, s.gates, nil, s.stop, meta.NewDefaultRESTMapper(nil)),
		upstreamadmission.NewPluginInitializer(),
		policyinit.New(policyinit.Config{Client: s.policies, Informers: s.policyInformers, TypeChecks: builtintypes.TypeChecks}),
	}.Initialize(plugin)
	return plugin.(admission.InitializationValidator).ValidateInitialization()
}

func newStaticPlugin(t *testing.T, dir string) *validatingadmissionpolicy.Plugin {
	t.Helper()
	plugin, err := validatingadmissionpolicy.New(configFor("ValidatingAdmissionPolicy", dir))
	if err != nil {
		t.Fatal(err)
	}
	return plugin
}

// The server does not start with invalid manifest files. Errors are the same as upstream's.
func TestStaticManifests(t *testing.T) {
	type files map[string]string
	one := func(content string) files { return files{"m.yaml": content} }
	const list = "apiVersion: v1\nkind: List\n"
	policies, bindings := headOf("ValidatingAdmissionPolicyList"), headOf("ValidatingAdmissionPolicyBindingList")
	for name, test := range map[string]struct {
		files files
		want  string // DIR is the directory
	}{
		"no files":                    {nil, ""},
		"empty file":                  {files{"a.yaml": "", "b.yaml": good}, ""},
		"nothing in a document":       {one(good + "\n---\n---\n"), `error loading DIR/m.yaml: Object 'Kind' is missing in '---'`},
		"policy and binding":          {one(good), ""},
		"binding before policy":       {files{"a.json": `{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b.static.k8s.io"}, "spec": {"policyName": "p.static.k8s.io", "validationActions": ["Deny"]}}`, "b.yml": staticPolicy("p.static.k8s.io", never)}, ""},
		"policy without binding":      {one(staticPolicy("p.static.k8s.io", never)), ""},
		"same name, different kinds":  {one(staticPolicy("x.static.k8s.io", never) + "\n---\n" + staticBinding("x.static.k8s.io", "policyName: x.static.k8s.io")), ""},
		"other files":                 {files{"README.md": "# not read", "m.yaml.bak": "{", "M.YAML": good}, ""},
		"list":                        {one(listOf(list, staticBinding("b.static.k8s.io", toStatic), listOf(list, staticPolicy("p.static.k8s.io", never)))), ""},
		"typed lists":                 {one(listOf(policies, staticPolicy("p.static.k8s.io", never)) + "\n---\n" + listOf(bindings, staticBinding("b.static.k8s.io", toStatic))), ""},
		"empty lists":                 {one(list + "\n---\n" + policies), ""},
		"not YAML":                    {one(`a: b: c`), "error loading DIR/m.yaml: yaml: mapping values are not allowed in this context"},
		"no kind":                     {one(`apiVersion: v1`), `error loading DIR/m.yaml: Object 'Kind' is missing in 'apiVersion: v1'`},
		"unknown field":               {one(staticPolicy("p.static.k8s.io", never+", valid: true")), `error loading DIR/m.yaml: strict decoding error: unknown field "spec.valid"`},
		"duplicate field":             {one(strings.Replace(good, "spec:", "spec: {}\nspec:", 1)), `error loading DIR/m.yaml: strict decoding error: yaml: unmarshal errors:`},
		"wrong type of field":         {one(staticPolicy("p.static.k8s.io", `validations: true`)), "error loading DIR/m.yaml: json: cannot unmarshal"},
		"unknown kind":                {one("apiVersion: v1\nkind: Pod"), `error loading DIR/m.yaml: no kind "Pod" is registered for version "v1" in scheme`},
		"unknown version":             {one(strings.Replace(good, "/v1", "/v2", 1)), `error loading DIR/m.yaml: no kind "ValidatingAdmissionPolicy" is registered for version "admissionregistration.k8s.io/v2" in scheme`},
		"beta":                        {one(strings.Replace(good, "/v1", "/v1beta1", 1)), "error loading DIR/m.yaml: unsupported resource type *v1beta1.ValidatingAdmissionPolicy"},
		"alpha binding":               {one(strings.Replace(staticBinding("b.static.k8s.io", toStatic), "/v1", "/v1alpha1", 1)), "error loading DIR/m.yaml: unsupported resource type *v1alpha1.ValidatingAdmissionPolicyBinding"},
		"internal":                    {one(strings.Replace(headOf("ValidatingAdmissionPolicy"), "/v1", "/__internal", 1)), "error loading DIR/m.yaml: unsupported resource type *admissionregistration.ValidatingAdmissionPolicy"},
		"mutating policy":             {one(headOf("MutatingAdmissionPolicy")), "error loading DIR/m.yaml: unsupported resource type *v1.MutatingAdmissionPolicy"},
		"mutating policy, beta":       {one(strings.Replace(headOf("MutatingAdmissionPolicyBinding"), "/v1", "/v1beta1", 1)), "error loading DIR/m.yaml: unsupported resource type *v1beta1.MutatingAdmissionPolicyBinding"},
		"webhooks":                    {one(headOf("ValidatingWebhookConfigurationList")), "error loading DIR/m.yaml: unsupported resource type *v1.ValidatingWebhookConfigurationList"},
		"webhooks, beta":              {one(strings.Replace(headOf("MutatingWebhookConfiguration"), "/v1", "/v1beta1", 1)), "error loading DIR/m.yaml: unsupported resource type *v1beta1.MutatingWebhookConfiguration"},
		"status":                      {one("apiVersion: v1\nkind: Status"), "error loading DIR/m.yaml: unsupported resource type *v1.Status"},
		"bad list item":               {one(listOf(list, staticPolicy("p.static.k8s.io", never), "kind: Pod\napiVersion: v1")), `error loading DIR/m.yaml: failed to decode list item: no kind "Pod" is registered for version "v1" in scheme`},
		"null list item":              {one(list + "items: [null]"), "error loading DIR/m.yaml: failed to decode list item: Object 'Kind' is missing in ''"},
		"name of a listed policy":     {one(listOf(policies, staticPolicy("p", never))), `error loading DIR/m.yaml: "p" in file "DIR/m.yaml" must have a name ending with ".static.k8s.io"`},
		"no name":                     {one(staticPolicy(`""`, never)), `error loading DIR/m.yaml: ValidatingAdmissionPolicy "": metadata.name: Required value: name or generateName is required`},
		"name of a policy":            {one(staticPolicy("p.example.com", never)), `error loading DIR/m.yaml: "p.example.com" in file "DIR/m.yaml" must have a name ending with ".static.k8s.io"`},
		"name of a binding":           {one(strings.Replace(good, "b.static.k8s.io", "b", 1)), `error loading DIR/m.yaml: "b" in file "DIR/m.yaml" must have a name ending with ".static.k8s.io"`},
		"same policy in two files":    {files{"a.yaml": good, "b.yaml": staticPolicy("p.static.k8s.io", never)}, `error loading DIR/b.yaml: duplicate name "p.static.k8s.io" found in file "DIR/b.yaml" (previously seen in "DIR/a.yaml")`},
		"same binding twice":          {one(good + "\n---\n" + staticBinding("b.static.k8s.io", toStatic)), `error loading DIR/m.yaml: duplicate name "b.static.k8s.io" found in file "DIR/m.yaml" (previously seen in "DIR/m.yaml")`},
		"paramKind":                   {one(staticPolicy("p.static.k8s.io", never+`, paramKind: {apiVersion: v1, kind: ConfigMap}`)), `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": spec.paramKind is not supported for static manifests`},
		"paramRef":                    {one(staticBinding("b.static.k8s.io", toStatic+`, paramRef: {name: x, parameterNotFoundAction: Deny}`)), `error loading DIR/m.yaml: binding "b.static.k8s.io": spec.paramRef is not supported for static manifests`},
		"binding to a stored policy":  {one(staticBinding("b.static.k8s.io", `policyName: p, paramRef: {name: x, parameterNotFoundAction: Deny}`)), `error loading DIR/m.yaml: binding "b.static.k8s.io": spec.policyName "p" must end with ".static.k8s.io"`},
		"binding to nothing":          {files{"a.yaml": good, "b.yaml": staticBinding("c.static.k8s.io", `policyName: q.static.k8s.io`)}, `binding "c.static.k8s.io" references policy "q.static.k8s.io" which does not exist in the manifest directory`},
		"binding without policy":      {one(staticBinding("b.static.k8s.io", `policyName: ""`)), `error loading DIR/m.yaml: ValidatingAdmissionPolicyBinding "b.static.k8s.io": spec.policyName: Required value`},
		"binding without anything":    {one(manifestOf("ValidatingAdmissionPolicyBinding", "b.static.k8s.io", "{matchResources: {matchPolicy: Roughly}}")), `error loading DIR/m.yaml: ValidatingAdmissionPolicyBinding "b.static.k8s.io": [spec.policyName: Required value, spec.matchResources.matchPolicy: Unsupported value: "Roughly": supported values: "Equivalent", "Exact", spec.validationActions: Required value: at least one validation action is required]`},
		"binding that does nonsense":  {one(strings.Replace(good, "[Deny]", "[Deny, Warn]", 1)), `error loading DIR/m.yaml: ValidatingAdmissionPolicyBinding "b.static.k8s.io": spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)`},
		"policy without anything":     {one(manifestOf("ValidatingAdmissionPolicy", "p.static.k8s.io", "{}")), `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": [spec.matchConstraints: Required value, spec.validations: Required value: validations or auditAnnotations must contain at least one item, spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item]`},
		"expression":                  {one(staticPolicy("p.static.k8s.io", `validations: [{expression: "1 +"}, {expression: "object.x"}]`)), `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": [spec.validations[0].expression: Invalid value: "1 +": compilation failed: ERROR: <input>:1:4: Syntax error:`},
		"expressions of all sorts":    {one(staticPolicy("p.static.k8s.io", never+`, variables: [{name: v, expression: "nope"}], matchConditions: [{name: c, expression: "1"}], auditAnnotations: [{key: k, valueExpression: "1"}]`)), `error loading DIR/m.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": [spec.matchConditions[0].expression: Invalid value: `},
		"first bad one of two":        {files{"a.yaml": staticPolicy("p", never), "b.yaml": "{"}, `error loading DIR/a.yaml: "p" in file`},
		"validation comes first":      {one(listOf(policies, staticPolicy("p", never), staticPolicy("q.static.k8s.io", `validations: []`))), `error loading DIR/m.yaml: ValidatingAdmissionPolicy "q.static.k8s.io": [spec.validations: Required value`},
		"no documents, only comments": {one("# nothing"), "error loading DIR/m.yaml: Object 'Kind' is missing in '# nothing'"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, test.files)
			stock, err := upstream.NewPlugin(configFor("ValidatingAdmissionPolicy", dir))
			if err != nil {
				t.Fatal(err)
			}
			got := withoutScheme(text(newServer(t).load(newStaticPlugin(t, dir))))
			if want := withoutScheme(text(newServer(t).load(stock))); got != want {
				t.Errorf("got error %q, upstream's is %q", got, want)
			}
			want := test.want
			if want != "" {
				want = `failed to load static policy manifests from "DIR": ` + want
			}
			if want = strings.ReplaceAll(want, "DIR", dir); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("got error %q, want %q", got, want)
			}
		})
	}
}

var schemeName = regexp.MustCompile(`in scheme ".*"`)

// withoutScheme removes the scheme's name, which contains the source line that created it.
func withoutScheme(message string) string { return schemeName.ReplaceAllString(message, `in scheme`) }

// The server does not start if the directory exists but is not readable.
func TestUnreadableManifests(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"file":      func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, "m.yaml")) },
		"directory": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ours := newStaticPlugin(t, dir)
			stock, err := upstream.NewPlugin(configFor("ValidatingAdmissionPolicy", dir))
			if err != nil {
				t.Fatal(err)
			}
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			got, want := text(newServer(t).load(ours)), text(newServer(t).load(stock))
			if got != want || !strings.HasSuffix(got, "no such file or directory") {
				t.Errorf("got error %q, upstream's is %q", got, want)
			}
		})
	}
}
