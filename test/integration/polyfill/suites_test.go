// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package polyfill

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"
	offline "celador.io/offline/cluster"
	"celador.io/offline/foreign"
	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
	"celador.io/celador/test/integration/livesuite"
	"celador.io/celador/test/integration/testserver"
)

var corpus = flag.String("corpus", "", "absolute path of a directory with suites, in the formats of celador test, to run in place of those of the examples")

// configMaps is a policy of the API server that matches nothing. Without one that has params in
// config maps, API servers stop to watch these, and know no later ones until they restart.
const (
	configMaps = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: config-maps.example.com}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [none.example.com], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}
  validations: [{expression: "true"}]
`
	configMapsBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: config-maps.example.com}
spec: {policyName: config-maps.example.com, paramRef: {selector: {}, parameterNotFoundAction: Allow}, validationActions: [Deny]}
`
)

// Policies of the polyfill answer requests as the policies of the API server do. Where these lack
// something that a suite needs, they answer as celador test.
func TestSuites(t *testing.T) {
	tests, gates := loadSuites(t, false)
	compareSuites(t, tests, gates)
}

// The causes of denials that the polyfill answers reach the client as they are.
func TestSuitesWithCauses(t *testing.T) {
	tests, gates := loadSuites(t, true)
	if len(tests) > 0 || *corpus == "" {
		compareSuites(t, tests, gates)
	}
}

// compareSuites compares the answers of the polyfill, started with the gates, to the cases of suites.
func compareSuites(t *testing.T, tests []*suite.Test, gates string) {
	c := install(t, "--allow-privileged")
	c.allowParams(t)
	c.start(t, gates).awaitReady(t)
	r := &comparison{
		native:   &livesuite.Server{Clients: c.Clients},
		polyfill: &livesuite.Server{Clients: c.Clients, Policies: v1.PolyfillGroupVersion},
		policies: map[string]bool{}, counts: map[string]int{},
	}
	r.native.Install(t, parse[unstructured.Unstructured](t, configMaps), parse[unstructured.Unstructured](t, configMapsBinding))
	results := (&suite.Runner{Backend: offlinebackend.KubeAPIServer}).Run(t.Context(), tests)
	r.define(t, results)
	for i := range results {
		gated := len(tests[i].Suite.FeatureGates) > 0
		for _, g := range r.group(results[i].Cases) {
			t.Run(results[i].Name+"/"+g[0].Name, func(t *testing.T) { r.compare(t, results[i].Name, g, gated) })
		}
	}
	t.Logf("%d policies; cases: %v", len(r.policies), r.counts)
	if r.counts[equal] == 0 {
		t.Error("no answer was compared")
	}
}

// loadSuites returns the suites of the corpus, and the flag of the polyfill that sets their feature
// gates. They are those that need the gate of causes, or those that do not: the gate changes the
// answers of all policies.
func loadSuites(t *testing.T, causes bool) (tests []*suite.Test, gatesFlag string) {
	t.Helper()
	var flags []string
	loader, paths := &suite.Loader{}, []string{"../../../examples", "../examples/testdata"}
	if *corpus != "" {
		loader, paths = &suite.Loader{Formats: foreign.Formats()}, []string{*corpus}
	}
	gates := map[string]bool{}
	for _, file := range testserver.Must(loader.Find(paths...))(t) {
		loaded, err := loader.Load(file)
		if err != nil && *corpus == "" {
			t.Fatal(err)
		}
		if err != nil {
			t.Logf("%s is not read: %v", file, err)
		}
		tests = append(tests, loaded...)
	}
	tests = slices.DeleteFunc(tests, func(test *suite.Test) bool {
		return test.Suite.FeatureGates[string(features.AdmissionPolicyCauses)] != causes
	})
	for _, test := range tests {
		maps.Copy(gates, test.Suite.FeatureGates)
	}
	maps.DeleteFunc(gates, func(gate string, _ bool) bool { return strings.HasPrefix(gate, "CustomResource") }) // which the polyfill does not have
	for gate, enabled := range gates {
		flags = append(flags, fmt.Sprintf("%s=%t", gate, enabled))
	}
	return tests, "--feature-gates=" + strings.Join(flags, ",")
}

// allowParams lets the polyfill read all params.
func (c *cluster) allowParams(t *testing.T) {
	t.Helper()
	testserver.Must(c.Core.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "params", Labels: map[string]string{"policy.celador.io/aggregate-to-params": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}}},
	}, metav1.CreateOptions{}))(t)
}

// mended are the cases that Kubernetes' policies do not answer as documented: a JSON patch cannot add
// a map of the object, because its keys have no type.
var mended = []string{"requests/an expression fails"}

// What becomes of a case, besides the reasons for which it is not sent.
const (
	equal    = "equal"
	differs  = "different"
	affected = "denied or warned"
)

// A comparison sends cases to a server with native policies, and then to the same server with
// policies of the polyfill.
type comparison struct {
	native, polyfill *livesuite.Server
	// policies are the policies of the cases that were sent, and counts what became of the cases.
	policies map[string]bool
	counts   map[string]int
}

// define creates the definitions of all cases: it takes an API server up to 30 seconds to find new
// kinds of params.
func (r *comparison) define(t *testing.T, results []suite.Result) {
	for _, result := range results {
		for i := range result.Cases {
			if obstacle(&result.Cases[i]) != "" {
				continue
			}
			for _, object := range result.Cases[i].Manifests {
				if offline.IsCRD(object) && !apierrors.IsInvalid(r.native.Accepts(t, object)) {
					r.native.Install(t, object)
				}
			}
		}
	}
}

// obstacle returns why a case is not sent, or "".
func obstacle(c *suite.CaseResult) string {
	switch {
	case c.Skipped != "":
		return "skipped by the suite"
	case c.Err != nil:
		return "refused by celador test"
	case !slices.ContainsFunc(c.Manifests, livesuite.IsPolicy):
		return "without a policy"
	case c.Request.Operation == admission.Connect:
		return "connections"
	case !c.Request.Time.IsZero():
		return "requests at a given time"
	case c.Request.Object != nil && livesuite.IsPolicy(c.Request.Object):
		return "writes of policies"
	}
	return ""
}

// group returns the cases that can be sent, in groups with the same objects on the server.
func (r *comparison) group(cases []suite.CaseResult) (groups [][]*suite.CaseResult) {
	at := map[string]int{}
	for i := range cases {
		c := &cases[i]
		if reason := obstacle(c); reason != "" {
			r.counts[reason]++
			continue
		}
		key, err := json.Marshal([]any{c.Manifests, c.Request.OldObject})
		if err != nil {
			panic(err) // objects come from JSON
		}
		if _, found := at[string(key)]; !found {
			at[string(key)] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[string(key)]] = append(groups[at[string(key)]], c)
	}
	return groups
}

// refused returns the objects of a case that the server does not serve or accept, policies aside,
// and whether it serves and accepts the policies.
func (r *comparison) refused(t *testing.T, c *suite.CaseResult) (objects []string, native bool) {
	t.Helper()
	native = true
	for _, object := range append(slices.Clone(c.Manifests), c.Request.Object, c.Request.OldObject) {
		if object == nil {
			continue
		}
		accepted := r.native.Serves(t, object.GroupVersionKind())
		if accepted && (livesuite.IsPolicy(object) || offline.IsCRD(object) || object == c.Request.OldObject) {
			err := r.native.Accepts(t, object)
			accepted = !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err)
		}
		switch {
		case accepted:
		case livesuite.IsPolicy(object):
			native = false
		default:
			objects = append(objects, object.GetKind()+" "+object.GetName())
		}
	}
	return objects, native
}

// compare compares the answers to the cases of a group of a suite. gated is set if they need feature
// gates, which the policies of the API server lack.
func (r *comparison) compare(t *testing.T, name string, cases []*suite.CaseResult, gated bool) {
	objects, native := r.refused(t, cases[0])
	if len(objects) > 0 {
		r.counts["of objects that the server does not accept"] += len(cases)
		t.Logf("the server does not accept %v", objects)
		return
	}
	want := make([]livesuite.Answer, len(cases))
	if native && !gated {
		t.Run("native", func(t *testing.T) {
			r.native.Setup(t, cases[0].Manifests, cases[0].Request)
			for i, c := range cases {
				want[i] = r.answer(t, c)
			}
		})
	}
	if !native || gated {
		// Other releases refuse invalid objects in other words.
		cases = slices.DeleteFunc(cases, func(c *suite.CaseResult) bool { return c.Decision == suite.Rejected })
	}
	for i, c := range cases {
		if !native || gated || slices.Contains(mended, name+"/"+c.Name) {
			want[i] = normalized(t, livesuite.AnswerOf(c.Response))
			want[i].AuditAnnotations = nil
		}
	}
	if t.Failed() {
		return
	}
	t.Run("polyfill", func(t *testing.T) {
		r.polyfill.Setup(t, cases[0].Manifests, cases[0].Request)
		for _, object := range cases[0].Manifests {
			if offline.IsPolicy(object.GroupVersionKind().GroupKind()) {
				r.policies[name+"/"+object.GetName()] = true
			}
		}
		for i, c := range cases {
			t.Run(c.Name, func(t *testing.T) { r.expect(t, c.Request, want[i]) })
		}
	})
}

// answer returns the answer of the native policies to a case. The server may know changed params
// later than policies, so answer waits a moment for the answer of celador test. It waits longer for
// the server to find the kind of the params.
func (r *comparison) answer(t *testing.T, c *suite.CaseResult) (got livesuite.Answer) {
	t.Helper()
	e, review := r.native.NewExchange(t, c.Request), normalized(t, livesuite.AnswerOf(c.Response))
	moment := time.Now().Add(3 * time.Second)
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		answer, err := e.Send(context.WithoutCancel(ctx))
		got = normalized(t, answer)
		unknown := got.Status != nil && strings.Contains(got.Status.Message, "failed to find resource referenced by paramKind")
		return cmp.Equal(review.Status, got.Status) && slices.Equal(review.Warnings, got.Warnings) || time.Now().After(moment) && !unknown, err
	})
	if err != nil && !wait.Interrupted(err) {
		t.Fatal(err)
	}
	return got
}

var (
	// webhookPrefix is what API servers put before the message of a webhook.
	webhookPrefix = regexp.MustCompile(`^admission webhook "[^"]*\.policy\.celador\.io" denied the request: `)
	// volumes are the names of volumes that a server chooses, which errors about invalid Pods quote.
	volumes = regexp.MustCompile(`kube-api-access-\w+`)
)

// normalized returns an answer without what differs between equal requests, between releases, and
// between webhooks and policies of the API server.
func normalized(t *testing.T, a livesuite.Answer) livesuite.Answer {
	t.Helper()
	dropNull(a.Object)
	if a.Status == nil {
		return a
	}
	text := testserver.Must(json.Marshal(a.Status))(t)
	status := &metav1.Status{}
	if err := json.Unmarshal(volumes.ReplaceAll(text, []byte("kube-api-access")), status); err != nil {
		t.Fatal(err)
	}
	status.Message = webhookPrefix.ReplaceAllString(status.Message, "")
	a.Status = status
	return a
}

// dropNull removes the fields that are null from a value of JSON: older API servers write the
// creationTimestamp of templates so.
func dropNull(value any) {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, field any) bool { return field == nil })
		for _, field := range value {
			dropNull(field)
		}
	case []any:
		for _, item := range value {
			dropNull(item)
		}
	}
}

// fields lets differences of errors show their fields.
var fields = cmp.Transformer("fields", func(s metav1.Status) map[string]any {
	return map[string]any{"code": s.Code, "reason": s.Reason, "message": s.Message, "details": s.Details}
})

// expect compares the answer to a request with the wanted one.
func (r *comparison) expect(t *testing.T, request *offline.Request, want livesuite.Answer) {
	e := r.polyfill.NewExchange(t, request)
	var difference string
	// Replicas learn of changed params and objects later than of policies.
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		got, err := e.Send(ctx)
		if ctx.Err() != nil {
			return false, err // the last difference says more
		}
		difference = cmp.Diff(want, normalized(t, got), fields)
		return difference == "", err
	})
	if want.Status != nil || want.Warnings != nil {
		r.counts[affected]++
	}
	if err == nil {
		r.counts[equal]++
		return
	}
	r.counts[differs]++
	t.Errorf("%v: answers (-want +polyfill):\n%s", err, difference)
}
