// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/celador/test/equivalence/harness"
)

// difference is a wanted difference between Celador and Kubernetes. The tests fail on any other.
type difference struct {
	name, reason string
	// explains reports whether the difference is the reason for two different outcomes of a
	// request.
	explains func(c *cluster, r request, celador, upstream outcome) bool
	// in is a scenario in which the difference occurs for request on, by default "create". Remove
	// the difference from the list when the test reports that it no longer occurs.
	in scenario
	on string
}

// differences returns the wanted differences.
func differences() []difference {
	return []difference{
		{
			name: "matched versions",
			reason: "What a policy makes of an object that it sees in another version than the request's stays in that version until all policies are done. Upstream tries to make it one " +
				"of the request's version at once, which fails when that has another group.",
			explains: func(c *cluster, r request, celador, upstream outcome) bool {
				return slices.ContainsFunc(c.Policies, func(p *v1.MutatingAdmissionPolicy) bool {
					return r.Kind.Kind == "Deployment" && concerns(p, r) && sees(p, r) != r.Resource.GroupVersion() && upstream.cannotConvert(p, celador)
				})
			},
			in: example{spec: with(applying(one), matched(matching(v1.Equivalent, rule("extensions", "v1beta1", "deployments"))))}.scenario(),
		},
		{
			name:   "several versions",
			reason: "When policies see the object of a request in different versions, each sees what the others did. Upstream has them change copies in each version, and keeps the last.",
			explains: func(c *cluster, r request, celador, upstream outcome) bool {
				return c.versions(r) > 1 && celador.last().Object != upstream.last().Object && reflect.DeepEqual(celador.withoutObjects(), upstream.withoutObjects())
			},
			in: scenario{
				Policies: []*v1.MutatingAdmissionPolicy{
					policyOf("a.example.com", with(applying("Object{spec: Object.spec{size: 5}}"), matched(matching(v1.Equivalent, rule("example.com", "v2", "widgets"))))),
					policyOf("b.example.com", with(applying(one), matched(matching(v1.Equivalent, rule("example.com", "v1", "widgets"))))),
				},
				Bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf("a", "a.example.com"), bindingOf("b", "b.example.com")},
			}, on: "create widget",
		},
		{
			name: "identity",
			reason: "A mutation that changes apiVersion, kind, metadata.name or metadata.namespace fails, as the object would be written where the request was not authorized to. " +
				"Upstream leaves it to the registry to notice. Where the registry or upstream's plugin rejects the request, failurePolicy does not ignore the failure.",
			explains: func(_ *cluster, r request, celador, upstream outcome) bool {
				if refused := mayNotChange.FindStringSubmatch(celador.last().Error); refused != nil {
					if strings.HasPrefix(upstream.last().Error, "Internal error occurred: couldn't get version/kind") {
						return reflect.DeepEqual(celador.before(), upstream.before())
					}
					return upstream.shows(len(celador.Rounds)-1, refused[1], refused[2]) && reflect.DeepEqual(celador.before(), upstream.upTo(len(celador.Rounds)-1))
				}
				// failurePolicy may ignore the error.
				return upstream.last().isOther(r) && reflect.DeepEqual(celador.withoutIdentity(), upstream.withoutIdentity())
			},
			in: example{spec: applying(`Object{metadata: Object.metadata{name: "other"}}`)}.scenario(),
		},
		{
			name: "managed fields",
			reason: "A mutation that changes metadata.managedFields fails, because server-side apply finds conflicts and fields to remove by them. Upstream stores what a JSON patch " +
				"writes there.",
			explains: func(_ *cluster, _ request, celador, upstream outcome) bool {
				i := len(celador.Rounds) - 1
				if i >= len(upstream.Rounds) || managedFieldsOf(upstream.Rounds[i].Object) == managedFieldsOf(celador.last().Object) {
					return false
				}
				if strings.HasSuffix(celador.last().Error, ": may not change metadata.managedFields") {
					return reflect.DeepEqual(celador.before(), upstream.upTo(i))
				}
				// failurePolicy may ignore the error. Then only upstream's object changes, which
				// causes another round.
				ours, theirs := celador.last(), upstream.last()
				return ours.Error == theirs.Error && withoutManagedFields(ours.Object) == withoutManagedFields(theirs.Object)
			},
			in: example{spec: patching(`[JSONPatch{op: "add", path: "/metadata/managedFields", value: [{"manager": "me", "operation": "Update"}]}]`)}.scenario(),
		},
		{
			name: "invalid objects",
			reason: "A JSON patch whose result is no valid object of its kind is a failure of its policy, which failurePolicy applies to. Upstream ends the request with an internal error " +
				"that does not name the policy.",
			explains: func(c *cluster, r request, celador, upstream outcome) bool {
				i := len(upstream.Rounds) - 1
				detail, found := strings.CutPrefix(upstream.last().Error, "Internal error occurred: ")
				if !found || upstream.last().Status.Code != http.StatusInternalServerError || !reflect.DeepEqual(celador.upTo(i), upstream.upTo(i)) || strings.Contains(celador.text(), "Internal error occurred: ") {
					return false
				}
				return strings.Contains(celador.text(), " denied request: patched object is not valid: "+detail) || slices.ContainsFunc(c.Policies, func(p *v1.MutatingAdmissionPolicy) bool {
					return p.Spec.FailurePolicy != nil && *p.Spec.FailurePolicy == v1.Ignore && concerns(p, r) &&
						slices.ContainsFunc(p.Spec.Mutations, func(m v1.Mutation) bool { return m.JSONPatch != nil })
				})
			},
			in: example{spec: patching(`[JSONPatch{op: "replace", path: "/spec/replicas", value: "many"}]`)}.scenario(),
		},
		{
			name: "parts of objects after match conditions",
			reason: "Mutations may take over maps, lists and structs of the object. In upstream they no longer may when a policy with match conditions has seen it before: " +
				"these have it shown to expressions in another way, which does not convert to JSON.",
			explains: func(c *cluster, r request, celador, upstream outcome) bool {
				return upstream.failsBesides(celador, notConverted) &&
					slices.ContainsFunc(c.Policies, func(p *v1.MutatingAdmissionPolicy) bool { return concerns(p, r) && p.Spec.MatchConditions != nil })
			},
			in: example{spec: with(patching("[JSONPatch{op: 'add', path: '/metadata/annotations', value: object.metadata.labels}]"), when("true"))}.scenario(),
		},
		{
			name: "parts of requests, namespaces and params",
			reason: "JSON patches and apply configurations may take over maps, lists and structs of request, namespaceObject and params. In upstream they may not: " +
				"these do not convert to JSON.",
			explains: func(c *cluster, _ request, celador, upstream outcome) bool {
				return upstream.failsBesides(celador, notConverted) && slices.ContainsFunc(c.Policies, readsTyped)
			},
			in: example{spec: patching("[JSONPatch{op: 'add', path: '/metadata/annotations', value: request.resource}]")}.scenario(),
		},
		{
			name:   goTypeNames,
			reason: "A few errors of CEL, such as for a list indexed by an object, name the Go type of a value. These types are Celador's own.",
			explains: func(_ *cluster, _ request, celador, upstream outcome) bool {
				return celador.withoutGoTypes() == upstream.withoutGoTypes()
			},
			in: example{spec: patching("[JSONPatch{op: 'add', path: {'a': 'b'}[object.metadata], value: 1}]")}.scenario(),
		},
		{
			name: "null params",
			reason: "An expression that reads a field of params, while the binding has no paramRef, says so. Upstream says that a key is missing, as if the param " +
				"did not have it.",
			explains: func(_ *cluster, _ request, celador, upstream outcome) bool {
				return strings.Contains(celador.text(), harness.NullParams) && harness.WithoutKeys(celador.encoded()) == harness.WithoutKeys(upstream.encoded())
			},
			in: example{spec: with(applying("Object{spec: Object.spec{replicas: params.spec.most}}"), parameterized(limitKind))}.scenario(),
		},
		{
			name: "patches below a null",
			reason: "A JSON patch that sets a field to null and then adds below it panics in the library that applies it. The mutation fails, and failurePolicy applies. " +
				"Upstream panics, which ends the request.",
			explains: func(_ *cluster, _ request, celador, upstream outcome) bool {
				return strings.Contains(upstream.text(), "panic: assignment to entry in nil map")
			},
			in: example{spec: patching(`[JSONPatch{op: "add", path: "/spec/none", value: null}, JSONPatch{op: "add", path: "/spec/none/more", value: 1}]`)}.scenario(), on: "create widget",
		},
		{
			name:   "control characters",
			reason: "Paths of a JSON patch may have control characters. Upstream writes them as Go does, which JSON does not understand.",
			explains: func(_ *cluster, _ request, _, upstream outcome) bool {
				return strings.Contains(upstream.text(), "failed to decode path")
			},
			in: example{spec: patching(`[JSONPatch{op: "add", path: "/metadata/labels/\u0007", value: "bell"}]`)}.scenario(),
		},
	}
}

const goTypeNames = "names of Go types"

func (o outcome) withoutGoTypes() string { return harness.GoTypes.Replace(o.encoded()) }

// encoded returns the outcome as JSON.
func (o outcome) encoded() string {
	text, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// failsBesides reports whether the outcome has all failures of another outcome and additional
// ones, all of which match a pattern.
func (o outcome) failsBesides(other outcome, pattern *regexp.Regexp) bool {
	failures, others := strings.Split(o.text(), "\n"), strings.Split(other.text(), "\n")
	matched := 0
	for _, failure := range failures {
		switch {
		case slices.Contains(others, failure):
		case pattern.MatchString(failure):
			matched++
		default:
			return false
		}
	}
	return matched > 0 && !slices.ContainsFunc(others, func(failure string) bool { return failure != "" && !slices.Contains(failures, failure) })
}

// readsTyped reports whether a mutation or variable of a policy may read a value that upstream
// converts from its Go type even without match conditions.
func readsTyped(p *v1.MutatingAdmissionPolicy) bool {
	text, err := json.Marshal([]any{p.Spec.Mutations, p.Spec.Variables})
	return err == nil && typedNames.Match(text)
}

var typedNames = regexp.MustCompile(`\b(request|namespaceObject|params)\b`)

var notConverted = regexp.MustCompile(`type conversion error from|associative list .* may not have non-map elements`)

// notSuitable is upstream's error about an object in the version of another group.
const notSuitable = " is not suitable for converting to "

// cannotConvert reports whether a policy fails in Kubernetes because the object does not convert
// to the version of the request, and does not fail for this reason in Celador. If the outcome has
// no such error, for instance because failurePolicy ignores it, only the object, reinvocation and
// the number of the policy's failures may differ.
func (o outcome) cannotConvert(p *v1.MutatingAdmissionPolicy, celador outcome) bool {
	if strings.Contains(o.text(), "policy '"+p.Name+"' with binding") && strings.Contains(o.text(), notSuitable) {
		return !strings.Contains(celador.text(), notSuitable) && reflect.DeepEqual(o.before(), celador.upTo(len(o.Rounds)-1))
	}
	if o.checks(p, false) <= celador.checks(p, false) && o.checks(p, true) >= celador.checks(p, true) {
		return false
	}
	ours, theirs := celador.withoutObjects(), o.withoutObjects()
	for i := range min(len(ours.Rounds), len(theirs.Rounds)) {
		// A policy that changes the object causes another round.
		ours.Rounds[i].Again = theirs.Rounds[i].Again
		if !reflect.DeepEqual(ours.Rounds[i], theirs.Rounds[i]) {
			return false
		}
	}
	ours.forget(p)
	theirs.forget(p)
	return len(ours.Rounds) != len(theirs.Rounds) || reflect.DeepEqual(ours.Observed, theirs.Observed)
}

// checks returns how often a policy succeeded or failed.
func (o outcome) checks(p *v1.MutatingAdmissionPolicy, succeeded bool) (n float64) {
	for metric, count := range o.Observed {
		if strings.HasPrefix(metric, "apiserver_mutating_admission_policy_check_total ") && isAbout(metric, p) && strings.Contains(metric, "error_type=no_error") == succeeded {
			n += count
		}
	}
	return n
}

// forget removes the observations of a policy.
func (o outcome) forget(p *v1.MutatingAdmissionPolicy) {
	maps.DeleteFunc(o.Observed, func(metric string, _ float64) bool { return isAbout(metric, p) })
}

func isAbout(metric string, p *v1.MutatingAdmissionPolicy) bool {
	return strings.Contains(metric+" ", " policy="+p.Name+" ")
}

// withoutObjects returns a copy without the mutated objects.
func (o outcome) withoutObjects() outcome {
	o.Rounds, o.Observed = slices.Clone(o.Rounds), maps.Clone(o.Observed)
	for i := range o.Rounds {
		o.Rounds[i].Object = ""
	}
	return o
}

// before returns all rounds but the last.
func (o outcome) before() []round { return o.upTo(len(o.Rounds) - 1) }

// upTo returns the first n rounds, or fewer if there are fewer.
func (o outcome) upTo(n int) []round { return o.Rounds[:min(n, len(o.Rounds))] }

// mayNotChange matches Celador's error about a changed identity, with the field and its new
// value.
var mayNotChange = regexp.MustCompile(`: may not change (metadata\.name|metadata\.namespace|apiVersion and kind) from .* to "?([^"]*)"?$`)

// shows reports whether a field of the identity has the given value in the object of a round.
func (o outcome) shows(i int, part, value string) bool {
	if i >= len(o.Rounds) {
		return false
	}
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal([]byte(o.Rounds[i].Object), &object); err != nil {
		return false
	}
	switch part {
	case "metadata.name":
		return object.Name == value
	case "metadata.namespace":
		return object.Namespace == value
	default: // Upstream restores apiVersion and kind after a mutation.
		return true
	}
}

// withoutIdentity returns a copy in which objects have no name and namespace, and no metrics
// are recorded, because a mutation succeeds in one engine and fails in the other.
func (o outcome) withoutIdentity() outcome {
	o.Rounds = slices.Clone(o.Rounds)
	for i := range o.Rounds {
		object := map[string]any{}
		if json.Unmarshal([]byte(o.Rounds[i].Object), &object) != nil {
			continue
		}
		if metadata, ok := object["metadata"].(map[string]any); ok {
			delete(metadata, "name")
			delete(metadata, "namespace")
			if labels, ok := metadata["labels"].(map[string]any); ok {
				delete(labels, corev1.LabelMetadataName) // the name of a namespace
			}
		}
		text, _ := json.Marshal(object)
		o.Rounds[i].Object = string(text)
	}
	o.Observed = nil
	return o
}

// managedFieldsOf returns the JSON of metadata.managedFields of an object.
func managedFieldsOf(object string) string {
	var parts struct {
		Metadata struct {
			ManagedFields json.RawMessage `json:"managedFields"`
		} `json:"metadata"`
	}
	if json.Unmarshal([]byte(object), &parts) != nil {
		return ""
	}
	return string(parts.Metadata.ManagedFields)
}

// withoutManagedFields removes metadata.managedFields from the JSON of an object.
func withoutManagedFields(text string) string {
	object := map[string]any{}
	if json.Unmarshal([]byte(text), &object) != nil {
		return text
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	stripped, err := json.Marshal(object)
	if err != nil {
		return text
	}
	return string(stripped)
}

// isOther reports whether the object has another name or namespace than the request.
func (r round) isOther(of request) bool {
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal([]byte(r.Object), &object); err != nil || object.Name == "" || of.Name == "" {
		return false
	}
	return object.Name != of.Name || object.Namespace != "" && object.Namespace != of.Namespace
}

// versions returns the number of versions in which the policies match the object of a request.
func (c *cluster) versions(r request) int {
	versions := map[schema.GroupVersion]bool{}
	for _, p := range c.Policies {
		if concerns(p, r) {
			versions[sees(p, r)] = true
		}
	}
	return len(versions)
}

// concerns reports whether a rule of a policy matches the resource and name of a request, in
// any version.
func concerns(p *v1.MutatingAdmissionPolicy, r request) bool {
	return slices.ContainsFunc(p.Spec.MatchConstraints.ResourceRules, func(rule v1.NamedRuleWithOperations) bool {
		resource, _, _ := strings.Cut(rule.Resources[0], "/")
		return (resource == "*" || resource == r.Resource.Resource) && (len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, r.Name))
	})
}

// sees returns the version in which a policy that matches a request reads the object.
func sees(p *v1.MutatingAdmissionPolicy, r request) schema.GroupVersion {
	if len(p.Spec.MatchConstraints.ResourceRules) == 0 || slices.ContainsFunc(p.Spec.MatchConstraints.ResourceRules, func(rule v1.NamedRuleWithOperations) bool {
		return covers(rule.APIGroups, r.Resource.Group) && covers(rule.APIVersions, r.Resource.Version)
	}) {
		return r.Resource.GroupVersion()
	}
	first := p.Spec.MatchConstraints.ResourceRules[0]
	return schema.GroupVersion{Group: first.APIGroups[0], Version: first.APIVersions[0]}
}

func covers(values []string, value string) bool { return values[0] == "*" || values[0] == value }

func TestDifferences(t *testing.T) {
	for _, d := range differences() {
		t.Run(d.name, func(t *testing.T) {
			if d.on == "" {
				d.on = "create"
			}
			got := compareIn(t, d.in, map[string]request{d.on: fixed[d.on]})
			if got.Unexplained != nil {
				t.Error(got)
			}
			if !slices.Contains(got.Explained, d.name) {
				t.Errorf("%v show, and not any more: %s", got.Explained, d.reason)
			}
		})
	}
}

// TestExplanations checks that a difference does not explain outcomes that differ in other
// ways, too.
func TestExplanations(t *testing.T) {
	t.Parallel()
	const object = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"blue","labels":{"a":"b"}}}`
	const other, moved = `{"metadata":{"name":"web","namespace":"blue"},"spec":{}}`, `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"other","namespace":"blue","labels":{"a":"b"}}}`
	matched := &cluster{scenario: differences()[0].in}
	of := func(rounds ...round) outcome { return outcome{Rounds: rounds} }
	unconverted := round{Error: "policy '" + usualPolicy + "' with binding 'b' denied request: v1beta1.Deployment" + notSuitable + `"apps/v1"`}
	const owned = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"blue","labels":{"a":"b"},"managedFields":[{"manager":"me"}]}}`
	internalError := round{Error: "Internal error occurred: json: no", Status: metav1.Status{Code: http.StatusInternalServerError}}
	refused := round{Error: `: may not change metadata.name from "web" to "other"`, Object: object}
	for name, test := range map[string]struct {
		c                 *cluster
		celador, upstream outcome
		// want is empty if no difference explains the outcomes.
		want string
	}{
		"conversion":                     {matched, of(round{Object: object}), of(unconverted), "matched versions"},
		"conversion in the second round": {matched, of(round{Object: object}, round{Object: object}), of(round{Object: object}, unconverted), "matched versions"},
		"conversion, another before":     {matched, of(round{Object: other}, round{Object: object}), of(round{Object: object}, unconverted), ""},
		"another object":                 {matched, of(round{Object: object}), of(round{Object: other}), ""},
		"another error":                  {matched, of(round{Object: object}), of(round{Error: "no", Object: object}), ""},
		"refused name":                   {&cluster{}, of(refused), of(round{Object: moved}), "identity"},
		"refused, but not changed":       {&cluster{}, of(refused), of(round{Object: object}), ""},
		"ignored name":                   {&cluster{}, of(round{Object: object}), of(round{Object: moved}), "identity"},
		"ignored name and more":          {&cluster{}, of(round{Object: other}), of(round{Object: moved}), ""},
		"managed fields":                 {&cluster{}, of(round{Error: "policy 'a' with binding 'b' denied request: may not change metadata.managedFields", Object: object}), of(round{Object: owned}), "managed fields"},
		"ignored managed fields":         {&cluster{}, of(round{Object: object}), of(round{Object: owned}), "managed fields"},
		"managed fields and more":        {&cluster{}, of(round{Object: other}), of(round{Object: owned}), ""},
		"invalid object":                 {&cluster{}, of(round{Error: "policy 'a' with binding 'b' denied request: patched object is not valid: json: no"}), of(internalError), "invalid objects"},
		"another invalid object":         {&cluster{}, of(round{Error: "policy 'a' with binding 'b' denied request: patched object is not valid: json: yes"}), of(internalError), ""},
		"an internal error":              {&cluster{}, of(round{}), of(internalError), ""},
		"ignored name and an error":      {&cluster{}, of(round{Object: object, Error: "no"}), of(round{Object: moved}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.c.explain(fixed["create"], test.celador, test.upstream); got != test.want {
				t.Errorf("explained by %q, want %q", got, test.want)
			}
		})
	}
}

// explain returns the name of the difference that is the reason for two different outcomes, or
// an empty string.
func (c *cluster) explain(r request, celador, upstream outcome) string {
	for _, d := range differences() {
		if d.explains(c, r, celador, upstream) {
			return d.name
		}
	}
	return ""
}
