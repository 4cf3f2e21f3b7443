// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	stockpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery/cached/memory"
	stockinformers "k8s.io/client-go/informers"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"
	"k8s.io/kube-openapi/pkg/validation/spec"
	stockstatus "k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus"

	"celador.io/admission/cel/expression"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus/servedtypes"
	"celador.io/client-go/informers"

	"celador.io/celador/pkg/generated/openapi"
	"celador.io/celador/test/integration/testserver"
)

// builtIn resolves the schemas of the server that all tests share.
var builtIn = sync.OnceValue(func() resolver.SchemaResolver {
	return resolver.NewDefinitionsSchemaResolver(openapi.GetMergedOpenAPIDefinitions, kubescheme.Scheme)
})

// otherVersion resolves the schemas of a server of another version, in which deployments have an
// additional field.
type otherVersion struct{ field string }

// ResolveSchema implements resolver.SchemaResolver.
func (v otherVersion) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	known, err := builtIn().ResolveSchema(kind)
	if err != nil || kind.Kind != "Deployment" {
		return known, err
	}
	changed := *known
	changed.Properties = maps.Clone(known.Properties)
	changed.Properties[v.field] = *spec.StringProperty()
	return &changed, nil
}

// checks records the policies that a controller has checked.
type checks struct {
	lock sync.Mutex
	seen map[string]bool
}

// SetVerdict implements typecheck.VerdictStore.
func (c *checks) SetVerdict(name string, _ types.UID, _ int64, _ error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.seen[name] = true
}

// ForgetVerdict implements typecheck.VerdictStore.
func (c *checks) ForgetVerdict(string) {}

func (c *checks) of(name string) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.seen[name]
}

// join runs the controller of another server until the end of the test.
func join(t *testing.T, schemas resolver.SchemaResolver) *checks {
	t.Helper()
	definitionInformers := apiextensionsinformers.NewSharedInformerFactory(definitions, 0)
	policyInformers := informers.NewSharedInformerFactory(policies, 0)
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	compiler := expression.NewCompiler(base)
	made := &checks{seen: map[string]bool{}}
	controller := testserver.Must(admissionpolicystatus.New(admissionpolicystatus.Config{
		Kinds: []*admissionpolicystatus.Descriptor{
			admissionpolicystatus.Validating(policies, policyInformers, compiler, nil),
			admissionpolicystatus.Mutating(policies, policyInformers, compiler, nil),
		},
		Verdicts: map[string][]typecheck.VerdictStore{"ValidatingAdmissionPolicy": {made}, "MutatingAdmissionPolicy": {made}},
		Events:   core.EventsV1(),
		CRDs:     testserver.Must(metadata.NewForConfig(admin.Config))(t),
		Types: servedtypes.Config{
			Discovery:  core.Discovery(),
			BuiltIn:    kubescheme.Scheme.IsVersionRegistered,
			Schemas:    schemas,
			Aggregated: func(schema.GroupVersion) bool { return false },
			CRDs:       definitionInformers.Apiextensions().V1().CustomResourceDefinitions(),
		},
		Checker: testserver.Must(typecheck.New(base, nil))(t),
	}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	definitionInformers.StartWithContext(ctx)
	policyInformers.StartWithContext(ctx)
	var running sync.WaitGroup
	running.Go(func() { controller.WriteStatus(ctx) })
	running.Go(func() { controller.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		definitionInformers.Shutdown()
		policyInformers.Shutdown()
		running.Wait()
	})
	return made
}

// writes counts the writes of each policy.
type writes struct {
	lock  sync.Mutex
	count map[string]int
}

// countWrites counts the writes of all policies until the end of the test.
func countWrites(t *testing.T) *writes {
	t.Helper()
	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	list := testserver.Must(client.List(t.Context(), metav1.ListOptions{}))(t)
	watch := testserver.Must(client.Watch(context.Background(), metav1.ListOptions{ResourceVersion: list.ResourceVersion}))(t)
	counted := &writes{count: map[string]int{}}
	var counting sync.WaitGroup
	counting.Go(func() {
		for event := range watch.ResultChan() {
			if policy, ok := event.Object.(*v1.ValidatingAdmissionPolicy); ok {
				counted.lock.Lock()
				counted.count[policy.Name]++
				counted.lock.Unlock()
			}
		}
	})
	t.Cleanup(func() {
		watch.Stop()
		counting.Wait()
	})
	return counted
}

func (w *writes) of(name string) int {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.count[name]
}

// settle returns when all controllers have processed earlier changes. They process changes in
// order, so they have when a new policy has its status.
func (w *writes) settle(t *testing.T, controllers ...*checks) {
	t.Helper()
	for range 3 { // controllers also process the writes of other controllers
		probe := write(t, matching("apps", "v1", "deployments")+`validations: [{expression: "true"}]`)
		expect(t, probe.Name, fits)
		testserver.Eventually(t, func(context.Context) error {
			for i, controller := range controllers {
				if !controller.of(probe.Name) {
					return fmt.Errorf("controller %d has not checked %s", i, probe.Name)
				}
			}
			if w.of(probe.Name) < 2 {
				return fmt.Errorf("the status of %s was not seen", probe.Name)
			}
			return nil
		})
	}
}

// Servers of different versions may find different type errors. Each change still leads to a
// single status, which the servers do not overwrite in turns.
func TestServersConverge(t *testing.T) {
	group := testserver.UniqueName("servers") + ".example.com"
	counted := countWrites(t)
	controllers := []*checks{join(t, builtIn()), join(t, otherVersion{"one"}), join(t, otherVersion{"two"})}

	var names []string
	for range 10 {
		names = append(names, write(t, `
matchConstraints:
  resourceRules:
  - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  - {apiGroups: [`+group+`], apiVersions: [v1], operations: [CREATE], resources: [widgets]}
validations:
- expression: object.one == 'a' || object.two == 'b'
- expression: object.three == 'c'`).Name)
	}
	wanted := 1 // the creation
	expectWrites := func(after string, more int, check func(v1.ValidatingAdmissionPolicyStatus) error) {
		t.Helper()
		for _, name := range names {
			expect(t, name, check)
		}
		counted.settle(t, controllers...)
		wanted += more
		for _, name := range names {
			expect(t, name, check)
			if got := counted.of(name); got != wanted {
				t.Errorf("%s after %s: %d writes, want %d", name, after, got, wanted)
			}
		}
	}
	observes := func(generation int64) func(v1.ValidatingAdmissionPolicyStatus) error {
		return func(s v1.ValidatingAdmissionPolicyStatus) error {
			if len(s.ObservedCustomResources) != 1 || s.ObservedCustomResources[0].Generation != generation {
				return fmt.Errorf("want generation %d observed", generation)
			}
			return doesNotFit(s)
		}
	}
	expectWrites("the creation", 1, isMissing)

	define(t, widgets(t, group, "v1", "{size: {type: string}}"))
	expectWrites("a definition", 1, observes(1))
	for generation := int64(2); generation < 5; generation++ {
		edit(t, group, func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties[fmt.Sprint("p", generation)] = apiextensionsv1.JSONSchemaProps{Type: "integer"}
		})
		expectWrites(fmt.Sprint("generation ", generation), 1, observes(generation))
	}
	// A starting server writes nothing, whatever its version.
	controllers = append(controllers, join(t, otherVersion{"three"}))
	expectWrites("a start", 0, observes(4))
}

// A definition that is deleted and created again quickly leads to the status of the last
// definition, also if servers see the changes at different times.
func TestServersConvergeOnReplacedDefinition(t *testing.T) {
	group := testserver.UniqueName("replaced") + ".example.com"
	counted := countWrites(t)
	controllers := []*checks{join(t, builtIn()), join(t, otherVersion{"one"})}
	policy := write(t, matching(group, "v1", "widgets")+`validations: [{expression: object.spec.size < 5}]`)
	for i := range 5 {
		property := []string{"{size: {type: integer}}", "{size: {type: string}}"}[i%2]
		define(t, widgets(t, group, "v1", property))
		established(t, group)
		if i < 4 {
			undefine(t, group)
		}
	}
	check := func(s v1.ValidatingAdmissionPolicyStatus) error {
		definition, err := definitions.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), "widgets."+group, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(s.ObservedCustomResources) != 1 || s.ObservedCustomResources[0].UID != definition.UID {
			return fmt.Errorf("want definition %s observed", definition.UID)
		}
		return fits(s)
	}
	expect(t, policy.Name, check)
	counted.settle(t, controllers...)
	before := counted.of(policy.Name)
	counted.settle(t, controllers...)
	expect(t, policy.Name, check)
	if after := counted.of(policy.Name); after != before {
		t.Errorf("the status is written although nothing changes: %d writes after %d", after, before)
	}
	// The writes of the policy: its creation, and one for the creation, the start of the deletion
	// and the end of the deletion of each definition.
	if most := 1 + 1 + 5*3; before > most {
		t.Errorf("got %d writes, want at most %d", before, most)
	}
}

// Kubernetes' controller writes the status of each generation once. Celador's controller
// overwrites it, and writes at most once after it.
func TestStockControllerBesideOurs(t *testing.T) {
	counted := countWrites(t)
	discovery := memory.NewMemCacheClient(core.Discovery())
	informers := stockinformers.NewSharedInformerFactory(core, 0)
	controller := testserver.Must(stockstatus.NewController(
		informers.Admissionregistration().V1().ValidatingAdmissionPolicies(),
		core.AdmissionregistrationV1().ValidatingAdmissionPolicies(),
		&stockpolicy.TypeChecker{
			SchemaResolver: builtIn(),
			RestMapper:     restmapper.NewDeferredDiscoveryRESTMapper(discovery),
		}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { controller.Run(ctx, 5) })
	informers.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		informers.Shutdown()
		running.Wait()
	})

	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	const wrongVariable = `variables: [{name: v, expression: object.y}]
`
	for spec, want := range map[string][]string{
		// Kubernetes does not check variables, and reports a wrong type for timestamps.
		wrongVariable + `validations: [{expression: "object.spec.x == 1"}]`:                {"spec.variables[0].expression", "spec.validations[0].expression"},
		wrongVariable + `validations: [{expression: "object.metadata.name != ''"}]`:        {"spec.variables[0].expression"},
		`validations: [{expression: "object.metadata.creationTimestamp.startsWith('2')"}]`: nil,
	} {
		var names []string
		for range 20 {
			names = append(names, write(t, matching("apps", "v1", "deployments")+spec).Name)
		}
		for generation := int64(1); generation <= 2; generation++ {
			check := func(s v1.ValidatingAdmissionPolicyStatus) error {
				var fields []string
				if s.TypeChecking != nil {
					for _, warning := range s.TypeChecking.ExpressionWarnings {
						fields = append(fields, warning.FieldRef)
					}
				}
				if s.ObservedGeneration != generation || strings.Join(fields, " ") != strings.Join(want, " ") {
					return fmt.Errorf("want generation %d and warnings about %s", generation, want)
				}
				return nil
			}
			for _, name := range names {
				expect(t, name, check)
			}
			counted.settle(t)
			for _, name := range names {
				expect(t, name, check)
				// The writes of the spec, of Kubernetes' status, and of Celador's status before and
				// after it.
				if got, most := counted.of(name), int(generation)*4; got > most {
					t.Errorf("%s: %d writes of generation %d, want at most %d", spec, got, generation, most)
				}
			}
			if generation == 2 {
				break
			}
			for _, name := range names {
				patch := []byte(`{"spec": {"failurePolicy": "Ignore"}}`)
				testserver.Must(client.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}))(t)
			}
		}
	}
}
