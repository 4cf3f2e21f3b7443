// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsfake "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	discoveryfake "k8s.io/client-go/discovery/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/openapi"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus/servedtypes"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"
)

// TestMain removes the error handler that pauses between errors. It keeps the time of the last
// error, and each synctest bubble has a clock of its own.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	os.Exit(m.Run())
}

// parse decodes YAML.
func parse[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	if err := yaml.UnmarshalStrict([]byte(text), &value); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return value
}

// policy returns policy p in generation 2 with the spec and status in YAML.
func policy(t *testing.T, spec, status string) *v1.ValidatingAdmissionPolicy {
	t.Helper()
	return &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p-uid", Generation: 2, ResourceVersion: "7"},
		Spec:       parse[v1.ValidatingAdmissionPolicySpec](t, spec),
		Status:     parse[v1.ValidatingAdmissionPolicyStatus](t, status),
	}
}

// widgets returns a definition of widgets.example.com/v1 whose spec has the given properties. Its
// resourceVersion is the UID followed by the generation.
func widgets(t *testing.T, uid string, generation int64, properties string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return parse[*apiextensionsv1.CustomResourceDefinition](t, fmt.Sprintf(`
metadata: {name: widgets.example.com, uid: %s, generation: %d, resourceVersion: %[1]s%[2]d}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: %s}}}}
status:
  acceptedNames: {kind: Widget, plural: widgets}
  conditions: [{type: Established, status: "True"}]
`, uid, generation, properties))
}

// cluster holds the fake dependencies of a controller.
type cluster struct {
	policies    *fake.Clientset
	kube        *kubefake.Clientset
	definitions *apiextensionsfake.Clientset
	// stored are the definitions in storage; definitions feeds the cache.
	stored *metadatafake.FakeMetadataClient
	// discovery serves the resources that are not custom resources.
	discovery *discovery
	// aggregated are the group versions of aggregated servers.
	aggregated []string
	schemas    schemas
	// version is the group version of policies, by default Kubernetes'.
	version schema.GroupVersion
	// follows makes run leave statuses to a leader.
	follows bool
	// enforce and inline turn features on.
	enforce    bool
	inline     bool
	verdicts   verdicts
	controller *admissionpolicystatus.Controller
}

// newCluster returns a cluster with the definitions both in the cache and in storage.
func newCluster(t *testing.T, policy runtime.Object, definitions ...*apiextensionsv1.CustomResourceDefinition) *cluster {
	t.Helper()
	c := &cluster{
		policies:    fake.NewClientset(policy),
		kube:        kubefake.NewClientset(),
		definitions: apiextensionsfake.NewClientset(),
		schemas: schemas{
			{Version: "v1", Kind: "Namespace"}:                 objectSchema(t, `{metadata: {type: object, properties: {name: {type: string}}}}`),
			{Group: "apps", Version: "v1", Kind: "Deployment"}: objectSchema(t, `{spec: {type: object, properties: {replicas: {type: integer}}}}`),
		},
	}
	// Without the server's types, the fake client cannot apply.
	c.policies.PrependReactor("patch", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, policy, nil
	})
	c.discovery = &discovery{FakeDiscovery: c.kube.Discovery().(*discoveryfake.FakeDiscovery)}
	c.discovery.down.Store(new(""))
	c.discovery.Resources = []*metav1.APIResourceList{{
		GroupVersion: "apps/v1",
		APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment"}, {Name: "deployments/scale", Kind: "Scale"}},
	}, {
		GroupVersion: "metrics.io/v1",
		APIResources: []metav1.APIResource{{Name: "podmetrics", Kind: "PodMetric"}},
	}}
	c.define(t, definitions...)
	c.store(t, definitions...)
	return c
}

// define adds definitions to the cache.
func (c *cluster) define(t *testing.T, definitions ...*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, d := range definitions {
		if _, err := c.definitions.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), d.DeepCopy(), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// store replaces the definitions in storage.
func (c *cluster) store(t *testing.T, definitions ...*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	var objects []runtime.Object
	for _, d := range definitions {
		objects = append(objects, &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
			ObjectMeta: *d.ObjectMeta.DeepCopy(),
		})
	}
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c.stored = metadatafake.NewSimpleMetadataClient(scheme, objects...)
}

// down makes the server of a group version fail until up is called.
func (c *cluster) down(version string) (up func()) {
	c.discovery.down.Store(&version)
	return func() { c.discovery.down.Store(new("")) }
}

// run starts a controller and waits until its queue is empty or only holds later retries.
func (c *cluster) run(t *testing.T) {
	t.Helper()
	c.start(t)
	c.settle()
}

// start runs a controller until the end of the test.
func (c *cluster) start(t *testing.T) {
	t.Helper()
	definitions := apiextensionsinformers.NewSharedInformerFactory(c.definitions, 0)
	policies := informers.NewSharedInformerFactory(c.policies, 0)
	controller, err := admissionpolicystatus.New(admissionpolicystatus.Config{
		Kinds: []*admissionpolicystatus.Descriptor{
			admissionpolicystatus.Validating(c.policies, policies, expression.Default(), policyspec.Features{policyspec.TypeEnforcement: c.enforce, policyspec.Lookups: true}),
			admissionpolicystatus.Mutating(c.policies, policies, expression.Default(), policyspec.Features{policyspec.TypeEnforcement: c.enforce, policyspec.InlineExpressions: c.inline, policyspec.Lookups: true}),
		},
		GroupVersion: c.version,
		Events:       c.kube.EventsV1(),
		CRDs:         c.stored,
		Types: servedtypes.Config{
			Discovery:  c.discovery,
			BuiltIn:    func(v schema.GroupVersion) bool { return v.String() == "apps/v1" || v.String() == "v1" },
			Schemas:    c.schemas,
			Aggregated: func(v schema.GroupVersion) bool { return slices.Contains(c.aggregated, v.String()) },
			CRDs:       definitions.Apiextensions().V1().CustomResourceDefinitions(),
		},
		Verdicts: c.verdicts.stores("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"),
		Checker:  checker(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.controller = controller
	ctx, cancel := context.WithCancel(t.Context())
	definitions.StartWithContext(ctx)
	policies.StartWithContext(ctx)
	var running sync.WaitGroup
	if !c.follows {
		running.Go(func() { controller.WriteStatus(ctx) })
		synctest.Wait()
	}
	running.Go(func() { controller.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		definitions.Shutdown()
		policies.Shutdown()
		running.Wait()
	})
}

// settle waits for 10 seconds of the bubble, in which the controller retries several times.
func (c *cluster) settle() {
	time.Sleep(10 * time.Second) // of the bubble
	synctest.Wait()
}

func checker(t *testing.T) *typecheck.Checker {
	t.Helper()
	checker, err := typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return checker
}

// patch is the body of a request that writes a status.
type patch struct {
	APIVersion, Kind string
	Metadata         struct {
		Name, UID, ResourceVersion string
	}
	Status v1.ValidatingAdmissionPolicyStatus
}

// record makes the fake API server store the status that the controller writes.
func (c *cluster) record(t *testing.T) {
	c.policies.PrependReactor("patch", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patched := action.(clienttesting.PatchAction)
		object, err := c.policies.Tracker().Get(action.GetResource(), "", patched.GetName())
		if err != nil {
			return true, nil, err
		}
		var p patch
		if err := json.Unmarshal(patched.GetPatch(), &p); err != nil {
			t.Error(err)
		}
		recorded := object.DeepCopyObject()
		switch recorded := recorded.(type) {
		case *v1.ValidatingAdmissionPolicy:
			recorded.Status = p.Status
		case *v1.MutatingAdmissionPolicy:
			recorded.Status = v1.MutatingAdmissionPolicyStatus(p.Status)
		}
		return true, recorded, c.policies.Tracker().Update(action.GetResource(), recorded, "")
	})
}

// patches returns the requests that wrote a status so far.
func (c *cluster) patches(t *testing.T) []patch {
	t.Helper()
	var sent []patch
	for _, action := range c.policies.Actions() {
		switch action := action.(type) {
		case clienttesting.PatchAction:
			var p patch
			if err := json.Unmarshal(action.GetPatch(), &p); err != nil {
				t.Fatal(err)
			}
			if action.GetPatchType() != types.ApplyYAMLPatchType || action.GetSubresource() != "status" {
				t.Errorf("got a patch of type %s of subresource %q, want the status applied", action.GetPatchType(), action.GetSubresource())
			}
			sent = append(sent, p)
		case clienttesting.CreateAction, clienttesting.DeleteAction:
			t.Errorf("got %s of a policy", action.GetVerb())
		}
	}
	return sent
}

// events returns the events so far.
func (c *cluster) events(t *testing.T) []eventsv1.Event {
	t.Helper()
	list, err := c.kube.EventsV1().Events("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// discovery is the discovery client. It serves no custom resources.
type discovery struct {
	*discoveryfake.FakeDiscovery
	// down is a group version for which requests fail.
	down atomic.Pointer[string]
	// held, if not nil, blocks requests for an aggregated group version until it is closed.
	held atomic.Pointer[chan struct{}]
	// panics makes requests for an aggregated group version panic.
	panics atomic.Bool
	// undescribed removes the schemas of aggregated types.
	undescribed atomic.Bool
}

// ServerResourcesForGroupVersion implements discovery.ServerResourcesInterface.
func (d *discovery) ServerResourcesForGroupVersion(version string) (*metav1.APIResourceList, error) {
	if d.panics.Load() && version == "metrics.io/v1" {
		panic("a bug")
	}
	if held := d.held.Load(); held != nil && version == "metrics.io/v1" {
		<-*held
	}
	if version == *d.down.Load() {
		return nil, apierrors.NewServiceUnavailable("down")
	}
	return d.FakeDiscovery.ServerResourcesForGroupVersion(version)
}

// ServerResourcesForGroupVersionWithContext implements
// discovery.ServerResourcesInterfaceWithContext.
func (d *discovery) ServerResourcesForGroupVersionWithContext(_ context.Context, version string) (*metav1.APIResourceList, error) {
	return d.ServerResourcesForGroupVersion(version)
}

// OpenAPIV3 implements discovery.OpenAPIV3SchemaInterface. It has schemas of aggregated types only.
func (d *discovery) OpenAPIV3() openapi.Client { return d }

// Paths implements openapi.Client.
func (d *discovery) Paths() (map[string]openapi.GroupVersion, error) {
	if d.undescribed.Load() {
		return nil, nil
	}
	return map[string]openapi.GroupVersion{"apis/metrics.io/v1": d}, nil
}

// Schema implements openapi.GroupVersion.
func (d *discovery) Schema(string) ([]byte, error) {
	return []byte(`{"components": {"schemas": {"PodMetric": {
		"type": "object",
		"properties": {"usage": {"type": "integer"}},
		"x-kubernetes-group-version-kind": [{"group": "metrics.io", "version": "v1", "kind": "PodMetric"}]
	}}}}`), nil
}

// ServerRelativeURL implements openapi.GroupVersion.
func (d *discovery) ServerRelativeURL() string { return "" }

// schemas holds the schemas of built-in types.
type schemas map[schema.GroupVersionKind]*spec.Schema

// ResolveSchema implements resolver.SchemaResolver.
func (s schemas) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	if known, ok := s[kind]; ok {
		return known, nil
	}
	return nil, resolver.ErrSchemaNotFound
}

func objectSchema(t *testing.T, properties string) *spec.Schema {
	t.Helper()
	s := parse[spec.Schema](t, `{type: object, properties: `+properties+`}`)
	return &s
}

// verdicts records the calls of its stores.
type verdicts struct {
	lock  sync.Mutex
	calls []string
	// typeErrors, if not nil, counts the type errors in the last verdict on each policy.
	typeErrors map[string]int
	// unknown holds the reasons for which the objects of lookups of generation 2 of validating
	// policy p are not known.
	unknown map[int]string
	// unbound and orphaned are the names of validating policies and bindings without effect.
	unbound, orphaned []string
}

// setIneffective sets the names of validating policies and bindings without effect.
func (v *verdicts) setIneffective(policies, bindings []string) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.unbound, v.orphaned = policies, bindings
}

// setUnknown sets the reasons for which the objects of lookups are not known.
func (v *verdicts) setUnknown(reasons map[int]string) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.unknown = reasons
}

// stores returns a store for each kind.
func (v *verdicts) stores(kinds ...string) map[string][]typecheck.VerdictStore {
	stores := map[string][]typecheck.VerdictStore{}
	for _, kind := range kinds {
		stores[kind] = []typecheck.VerdictStore{&verdictStore{v, kind}}
	}
	return stores
}

func (v *verdicts) add(call string) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.calls = append(v.calls, call)
}

// verdictStore is the store for a kind.
type verdictStore struct {
	*verdicts
	kind string
}

// SetVerdict implements typecheck.VerdictStore.
func (s *verdictStore) SetVerdict(name string, uid types.UID, generation int64, err error) {
	s.add(fmt.Sprintf("%s %s %s %d: %v", s.kind, name, uid, generation, err))
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.typeErrors != nil {
		s.typeErrors[name] = strings.Count(fmt.Sprint(err), "does not fit")
	}
}

// Ineffective returns the names of policies and bindings without effect.
func (s *verdictStore) Ineffective() (policies, bindings []string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.kind != "ValidatingAdmissionPolicy" {
		return nil, nil
	}
	return s.unbound, s.orphaned
}

// UnknownLookups calls observe for each lookup whose objects are not known.
func (s *verdictStore) UnknownLookups(observe func(policy string, uid types.UID, generation int64, lookup int, reason error)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for lookup, reason := range s.unknown {
		if s.kind == "ValidatingAdmissionPolicy" {
			observe("p", "p-uid", 2, lookup, errors.New(reason))
		}
	}
}

// ForgetVerdict implements typecheck.VerdictStore.
func (s *verdictStore) ForgetVerdict(name string) { s.add("forget " + s.kind + " " + name) }

// expectVerdicts expects exactly these calls of the stores since expectVerdicts was last called.
func (c *cluster) expectVerdicts(t *testing.T, want ...string) {
	t.Helper()
	c.verdicts.lock.Lock()
	defer c.verdicts.lock.Unlock()
	if diff := cmp.Diff(want, c.verdicts.calls); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	c.verdicts.calls = nil
}

func update[T any](t *testing.T, update func(context.Context, T, metav1.UpdateOptions) (T, error), object T) {
	t.Helper()
	if _, err := update(t.Context(), object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (v *verdicts) all() []string {
	v.lock.Lock()
	defer v.lock.Unlock()
	return slices.Clone(v.calls)
}
