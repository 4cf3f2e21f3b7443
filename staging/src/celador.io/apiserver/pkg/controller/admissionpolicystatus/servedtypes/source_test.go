// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsfake "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	discoveryfake "k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"celador.io/apiserver/pkg/controller/admissionpolicystatus/servedtypes"
)

// widgets is a definition with a served and a retired version.
const widgets = `
metadata: {name: widgets.example.com, uid: a, generation: 3, resourceVersion: "30"}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  versions:
  - {name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}
  - {name: v0, served: false, schema: {openAPIV3Schema: {type: object, properties: {size: {type: string}}}}}
status:
  acceptedNames: {kind: Widget, plural: widgets}
  conditions: [{type: Established, status: "True"}]
`

// pending is a definition that is not established yet.
const pending = `
metadata: {name: gadgets.example.com, uid: b, generation: 1, resourceVersion: "31"}
spec:
  group: example.com
  names: {kind: Gadget, plural: gadgets}
  versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object}}}]
`

// source returns a source with apps/v1 built in, metrics.io/v1 aggregated, and the definitions. The
// fake records discovery requests.
func source(t *testing.T, definitions ...string) (types *servedtypes.Resolver, asked *clienttesting.Fake, client *apiextensionsfake.Clientset) {
	t.Helper()
	return sourceOf(t, builtIn{}, definitions...)
}

// sourceOf returns a source like source, with the schemas of built-in types.
func sourceOf(t *testing.T, schemas resolver.SchemaResolver, definitions ...string) (types *servedtypes.Resolver, asked *clienttesting.Fake, client *apiextensionsfake.Clientset) {
	t.Helper()
	var objects []kuberuntime.Object
	for _, text := range definitions {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(text), definition); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		objects = append(objects, definition)
	}
	client = apiextensionsfake.NewClientset(objects...)
	informers := apiextensionsinformers.NewSharedInformerFactory(client, 0)
	asked = &clienttesting.Fake{Resources: []*metav1.APIResourceList{
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment"}, {Name: "deployments/scale", Kind: "Scale"}}},
		{GroupVersion: "metrics.io/v1", APIResources: []metav1.APIResource{{Name: "podmetrics", Kind: "PodMetric"}}},
	}}
	types, err := servedtypes.New(servedtypes.Config{
		Discovery:  &discoveryfake.FakeDiscovery{Fake: asked},
		BuiltIn:    func(v schema.GroupVersion) bool { return v.Group == "apps" || v.Group == "" },
		Schemas:    schemas,
		Aggregated: func(v schema.GroupVersion) bool { return v.Group == "metrics.io" },
		CRDs:       informers.Apiextensions().V1().CustomResourceDefinitions(),
	}, func(*apiextensionsv1.CustomResourceDefinition) {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(informers.Shutdown)
	t.Cleanup(cancel)
	informers.StartWithContext(ctx)
	informers.WaitForCacheSync(ctx.Done())
	return types, asked, client
}

// builtIn returns a schema with metadata for every kind.
type builtIn struct{}

// ResolveSchema implements resolver.SchemaResolver.
func (builtIn) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return &spec.Schema{SchemaProps: spec.SchemaProps{
		Description: kind.String(),
		Properties:  map[string]spec.Schema{"metadata": {SchemaProps: spec.SchemaProps{Description: "metadata of all"}}},
	}}, nil
}

func TestKindsFor(t *testing.T) {
	types, _, _ := source(t, widgets, pending)
	for resource, want := range map[string]struct {
		kind string // empty if there is none
		seen string
	}{
		"deployments.v1.apps":       {kind: "apps/v1, Kind=Deployment"},
		"deployments/scale.v1.apps": {seen: "apps/v1, Kind= deployments/scale.apps  0"},
		"deployments.v2.apps":       {seen: "apps/v2, Kind= deployments.apps  0"},
		"podmetrics.v1.metrics.io":  {kind: "metrics.io/v1, Kind=PodMetric"},
		"widgets.v1.example.com":    {kind: "example.com/v1, Kind=Widget", seen: "example.com/v1, Kind=Widget widgets.example.com a 3"},
		"widgets.v0.example.com":    {seen: "example.com/v0, Kind=Widget widgets.example.com a 3"},
		"gadgets.v1.example.com":    {seen: "example.com/v1, Kind= gadgets.example.com  0"},
		"widget.v1.example.com":     {seen: "example.com/v1, Kind= widget.example.com  0"},
		"pots.v1.":                  {},
	} {
		t.Run(resource, func(t *testing.T) {
			gvr, _ := schema.ParseResourceArg(resource)
			view := types.TypeFinder(t.Context())
			kinds, err := view.KindsFor(*gvr)
			if want.kind == "" && !meta.IsNoMatchError(err) || want.kind != "" && (len(kinds) != 1 || kinds[0].String() != want.kind) {
				t.Errorf("got %v, %v, want %q", kinds, err, want.kind)
			}
			expectSeen(t, view, want.seen)
		})
	}
}

func TestTypesByKind(t *testing.T) {
	types, _, _ := source(t, widgets, pending)
	for name, want := range map[string]struct {
		kind     schema.GroupVersionKind
		resource string // empty if there is none
		schema   string // its properties, or the error
		seen     string
	}{
		"built in": {
			kind:     schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
			resource: "apps/v1, Resource=deployments", schema: "[metadata]",
		},
		"kind of a subresource": {
			kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Scale"}, schema: "not found",
			seen: "apps/v1, Kind=Scale   0",
		},
		"other server": {
			kind:     schema.GroupVersionKind{Group: "metrics.io", Version: "v1", Kind: "PodMetric"},
			resource: "metrics.io/v1, Resource=podmetrics",
		},
		"custom": {
			kind:     schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"},
			resource: "example.com/v1, Resource=widgets", schema: "[apiVersion kind metadata size]",
			seen: "example.com/v1, Kind=Widget widgets.example.com a 3",
		},
		"custom, not served": {
			kind: schema.GroupVersionKind{Group: "example.com", Version: "v0", Kind: "Widget"}, schema: "not found",
			seen: "example.com/v0, Kind=Widget widgets.example.com a 3",
		},
		"custom, not in use": {
			kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}, schema: "not found",
			seen: "example.com/v1, Kind=Gadget   0",
		},
		"core": {kind: schema.GroupVersionKind{Version: "v1", Kind: "Pot"}, schema: "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			view := types.TypeFinder(t.Context())
			if mapping, err := view.RESTMapping(want.kind.GroupKind(), want.kind.Version); want.resource == "" && !meta.IsNoMatchError(err) ||
				want.resource != "" && (err != nil || mapping.Resource.String() != want.resource || mapping.GroupVersionKind != want.kind) {
				t.Errorf("got mapping %v, %v, want %q", mapping, err, want.resource)
			}
			if want.schema != "" {
				found, err := view.ResolveSchema(want.kind)
				got := "not found"
				if err == nil {
					got = fmt.Sprint(properties(found))
				} else if !errors.Is(err, resolver.ErrSchemaNotFound) {
					t.Error(err)
				}
				if got != want.schema {
					t.Errorf("got schema with %s, want %s", got, want.schema)
				}
			}
			expectSeen(t, view, want.seen)
		})
	}
}

func expectSeen(t *testing.T, view *servedtypes.TypeFinder, want string) {
	t.Helper()
	var got string
	for _, r := range view.Seen() {
		got += fmt.Sprintf("%v %s %s %d", r.GroupVersionKind, r.CRD, r.UID, r.Generation)
	}
	if got != want {
		t.Errorf("saw %q, want %q", got, want)
	}
}

// Discovery of built-in types is cached, discovery of aggregated types and of what is not served is
// not.
func TestDiscoveryIsRemembered(t *testing.T) {
	types, asked, _ := source(t)
	for resource, want := range map[string]struct {
		served, aggregated bool
		asked              int
	}{
		"deployments.v1.apps":      {served: true, asked: 1},
		"deployments.v2.apps":      {asked: 3},
		"podmetrics.v1.metrics.io": {served: true, aggregated: true, asked: 3},
	} {
		gvr, _ := schema.ParseResourceArg(resource)
		asked.ClearActions()
		for range 3 {
			view := types.TypeFinder(t.Context())
			if _, err := view.KindsFor(*gvr); (err == nil) != want.served {
				t.Errorf("%s: got error %v, want it served: %t", resource, err, want.served)
			}
			if got := view.Aggregated(); got != want.aggregated {
				t.Errorf("%s is of an aggregated server: %t", resource, got)
			}
		}
		if got := len(asked.Actions()); got != want.asked {
			t.Errorf("%s: asked %d times, want %d", resource, got, want.asked)
		}
	}
}

func TestUnreachable(t *testing.T) {
	types, asked, _ := source(t)
	down := errors.New("down")
	asked.PrependReactor("*", "*", func(clienttesting.Action) (bool, kuberuntime.Object, error) { return true, nil, down })
	for range 2 { // an error is not cached
		view := types.TypeFinder(t.Context())
		for _, resource := range []string{"deployments.v1.apps", "podmetrics.v1.metrics.io"} {
			gvr, _ := schema.ParseResourceArg(resource)
			if _, err := view.KindsFor(*gvr); !errors.Is(err, down) {
				t.Errorf("%s: got error %v, want that the server is down", resource, err)
			}
		}
		if _, err := view.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "v1"); !errors.Is(err, down) {
			t.Errorf("got error %v, want that the server is down", err)
		}
		if _, err := view.ResolveSchema(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}); !errors.Is(err, down) {
			t.Errorf("got error %v, want that the server is down", err)
		}
	}
	asked.ReactionChain = asked.ReactionChain[1:]
	if _, err := types.TypeFinder(t.Context()).KindsFor(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}); err != nil {
		t.Errorf("got error %v when the server is there again", err)
	}
}

// slowSchemas answers when it is released.
type slowSchemas struct {
	builtIn
	asked, released chan struct{}
}

// ResolveSchema implements resolver.SchemaResolver.
func (s slowSchemas) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	s.asked <- struct{}{}
	<-s.released
	return s.builtIn.ResolveSchema(kind)
}

// A lookup ends with its context, although the server has not answered, and keeps no other from its
// end. The answer is for later lookups.
func TestSlowSchemas(t *testing.T) {
	slow := slowSchemas{asked: make(chan struct{}, 10), released: make(chan struct{})}
	types, _, _ := sourceOf(t, slow, widgets)
	deployment, widget := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	patient := make(chan error)
	for _, kind := range []schema.GroupVersionKind{deployment, widget} {
		go func() {
			_, err := types.TypeFinder(t.Context()).ResolveSchema(kind)
			patient <- err
		}()
	}
	<-slow.asked
	for _, kind := range []schema.GroupVersionKind{deployment, widget} {
		ctx, cancel := context.WithCancel(t.Context())
		answered := make(chan error)
		go func() {
			_, err := types.TypeFinder(ctx).ResolveSchema(kind)
			answered <- err
		}()
		cancel()
		if err := <-answered; !errors.Is(err, context.Canceled) {
			t.Errorf("%v: got error %v when time is over", kind, err)
		}
	}
	close(slow.released)
	for range 2 {
		if err := <-patient; err != nil {
			t.Error(err)
		}
	}
	<-slow.asked // the metadata of the widget
	if _, err := types.TypeFinder(t.Context()).ResolveSchema(deployment); err != nil || len(slow.asked) > 0 {
		t.Errorf("afterwards: %v, asked again %d times", err, len(slow.asked))
	}
}

// A panic while a schema is read is an error.
func TestPanickingSchemas(t *testing.T) {
	types, _, _ := sourceOf(t, nil)
	if _, err := types.TypeFinder(t.Context()).ResolveSchema(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("got error %v", err)
	}
}

// All views share the schema of a custom resource.
func TestSchemasAreShared(t *testing.T) {
	types, _, _ := source(t, widgets)
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	first, err := types.TypeFinder(t.Context()).ResolveSchema(kind)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := types.TypeFinder(t.Context()).ResolveSchema(kind); second != first || err != nil {
		t.Errorf("got another schema, %v", err)
	}
}

// Schemas of a definition are dropped when it changes or is deleted.
func TestMemoryReturns(t *testing.T) {
	types, _, client := source(t, widgets)
	definitions := client.ApiextensionsV1().CustomResourceDefinitions()
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	for _, step := range []struct {
		name   string
		change func() error
	}{
		{"change", func() error {
			definition, err := definitions.Get(t.Context(), "widgets.example.com", metav1.GetOptions{})
			if err == nil {
				definition = definition.DeepCopy()
				definition.Generation++
				_, err = definitions.Update(t.Context(), definition, metav1.UpdateOptions{})
			}
			return err
		}},
		{"deletion", func() error { return definitions.Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}) }},
	} {
		found, err := types.TypeFinder(t.Context()).ResolveSchema(kind)
		if err != nil {
			t.Fatal(err)
		}
		known := weak.Make(found)
		found = nil
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		err = wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			if crd := types.CRD("widgets.example.com"); (crd == nil) != (step.name == "deletion") || crd != nil && crd.Generation != 4 {
				return false, nil
			}
			runtime.GC()
			return known.Value() == nil, nil
		})
		if err != nil {
			t.Errorf("after a %s the schema is still there: %v", step.name, err)
		}
	}
}

func TestWithoutDefinitions(t *testing.T) {
	types, err := servedtypes.New(servedtypes.Config{
		Discovery:  &discoveryfake.FakeDiscovery{Fake: &clienttesting.Fake{}},
		BuiltIn:    func(schema.GroupVersion) bool { return false },
		Aggregated: func(schema.GroupVersion) bool { return false },
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	if _, err := types.TypeFinder(t.Context()).ResolveSchema(kind); !errors.Is(err, resolver.ErrSchemaNotFound) {
		t.Errorf("got error %v, want that there is no schema", err)
	}
	if found := types.Find(kind); found.Exists() || !types.Same(found) {
		t.Errorf("got %+v", found)
	}
}

func properties(s *spec.Schema) []string {
	return slices.Sorted(maps.Keys(s.Properties))
}
