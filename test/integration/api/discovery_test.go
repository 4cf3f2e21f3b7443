// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"celador.io/celador/test/integration/testserver"
	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/component-base/version"
)

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// served maps versions of the group and their resources to verbs.
var served = func() map[string]map[string][]string {
	status := []string{"get", "patch", "update"}
	mutating := map[string][]string{mutatingPolicies: allVerbs, mutatingPolicies + "/status": status, mutatingBindings: allVerbs}
	v1 := map[string][]string{
		policies: allVerbs, policies + "/status": status, bindings: allVerbs,
		"validatingwebhookconfigurations": allVerbs, "mutatingwebhookconfigurations": allVerbs,
	}
	maps.Copy(v1, mutating)
	return map[string]map[string][]string{"v1": v1, "v1beta1": mutating, "v1alpha1": mutating}
}()

func TestDiscovery(t *testing.T) {
	client := discovery.NewDiscoveryClient(stock(t, admin).Discovery().RESTClient())
	for name, legacy := range map[string]bool{"aggregated": false, "legacy": true} {
		t.Run(name, func(t *testing.T) {
			client.UseLegacyDiscovery = legacy
			groups, lists, err := client.ServerGroupsAndResources()
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(groups, func(g *metav1.APIGroup) bool { return g.Name == group })
			if at < 0 {
				t.Fatalf("the group is not among %v", groups)
			}
			var offered []string
			for _, v := range groups[at].Versions {
				offered = append(offered, v.Version)
			}
			if diff := cmp.Diff(versions[mutatingPolicies], offered); diff != "" || groups[at].PreferredVersion.Version != "v1" {
				t.Errorf("versions (-want +got):\n%s\npreferred: %s", diff, groups[at].PreferredVersion.Version)
			}
			got := map[string]map[string][]string{}
			for _, list := range lists {
				for _, v := range groups[at].Versions {
					if list.GroupVersion == v.GroupVersion {
						got[v.Version] = verbs(list)
						expectDetails(t, list)
					}
				}
			}
			if diff := cmp.Diff(served, got); diff != "" {
				t.Errorf("resources and verbs (-want +got):\n%s", diff)
			}
		})
	}
}

func verbs(list *metav1.APIResourceList) map[string][]string {
	got := map[string][]string{}
	for _, resource := range list.APIResources {
		got[resource.Name] = resource.Verbs
		slices.Sort(got[resource.Name])
	}
	return got
}

// expectDetails checks the kinds, short names and categories that kubectl reads.
func expectDetails(t *testing.T, list *metav1.APIResourceList) {
	t.Helper()
	for resource, singular := range map[string]string{
		policies: "validatingadmissionpolicy", bindings: "validatingadmissionpolicybinding",
		mutatingPolicies: "mutatingadmissionpolicy", mutatingBindings: "mutatingadmissionpolicybinding",
	} {
		if !slices.Contains(versions[resource], strings.TrimPrefix(list.GroupVersion, group+"/")) {
			continue
		}
		at := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource })
		if at < 0 {
			t.Errorf("%s: no %s", list.GroupVersion, resource)
			continue
		}
		got := list.APIResources[at]
		if got.Kind != kinds[resource] || got.SingularName != singular || got.Namespaced || !slices.Equal(got.Categories, []string{"api-extensions"}) {
			t.Errorf("%s: got %+v", list.GroupVersion, got)
		}
	}
}

// The aggregated document names the response kind of each resource.
func TestAggregatedDiscovery(t *testing.T) {
	var document apidiscoveryv2.APIGroupDiscoveryList
	get(t, "/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", &document)
	at := slices.IndexFunc(document.Items, func(g apidiscoveryv2.APIGroupDiscovery) bool { return g.Name == group })
	if at < 0 {
		t.Fatal("the group is missing")
	}
	for _, v := range document.Items[at].Versions {
		if v.Freshness != apidiscoveryv2.DiscoveryFreshnessCurrent {
			t.Errorf("%s is %s", v.Version, v.Freshness)
		}
		for _, resource := range v.Resources {
			if kind, ours := kinds[resource.Resource]; ours && resource.ResponseKind.Kind != kind {
				t.Errorf("%s %s answers with %v", v.Version, resource.Resource, resource.ResponseKind)
			}
		}
	}
}

// The version names the Kubernetes release and Celador.
func TestServerVersion(t *testing.T) {
	t.Parallel()
	got, want := testserver.Must(stock(t, admin).Discovery().ServerVersion())(t), version.Get()
	if got.GitVersion != want.GitVersion {
		t.Errorf("got version %s, want that of the build, %s", got.GitVersion, want.GitVersion)
	}
	if strings.HasPrefix(want.GitVersion, "v0.0.0") {
		return // the binary was built without a version
	}
	parsed := testserver.Must(utilversion.ParseSemantic(got.GitVersion))(t)
	if got.Major != "1" || got.Minor != "37" || parsed.Major() != 1 || parsed.Minor() != 37 || !strings.HasPrefix(parsed.BuildMetadata(), "celador.") {
		t.Errorf("got %+v, want version 1.37 of Celador", got)
	}
}
