// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unsafe"

	gocmp "github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstream "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"

	ours "celador.io/apiextensions-apiserver/pkg/discovery"
)

// Upstream's controller follows the same informer, and clients must not see a difference. The CRDs
// change at random.
func TestSameAsUpstream(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 0))
				crds := map[string]*definition{}
				change := func(c *cluster) {
					plural, group := pick(random, "foos", "bars", "bazs"), pick(random, group, "other.com", "extensions")
					before, exists := crds[plural+group]
					if exists && random.IntN(3) == 0 {
						delete(crds, plural+group)
						c.Delete(before)
						return
					}
					crd := randomDefinition(random, plural, group)
					crds[plural+group] = crd
					if exists {
						c.Modify(crd)
					} else {
						c.Add(crd)
					}
				}

				c := newCluster(t)
				for range random.IntN(5) {
					change(c)
				}
				ourHandler, ourManager := ours.NewHandler(upstream.Codecs, delegate), aggregated.NewResourceManager("apis")
				controller, err := ours.NewController(c, ourHandler, ourManager)
				if err != nil {
					t.Fatal(err)
				}
				c.run(func(ctx context.Context) { controller.Run(ctx, make(chan struct{})) })
				theirManager := aggregated.NewResourceManager("apis")
				theirHandler := startUpstream(c, theirManager)
				c.start()
				for range 10 {
					settle()
					for _, group := range []string{group, "other.com", "extensions"} {
						compare(t, ourHandler, theirHandler, "/apis/"+group)
						for _, version := range randomVersions {
							compare(t, ourHandler, theirHandler, "/apis/"+group+"/"+version)
						}
					}
					const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
					_, got := get(ourManager, "/apis", accept)
					_, want := get(theirManager, "/apis", accept)
					if diff := gocmp.Diff(want, got); diff != "" {
						t.Errorf("aggregated document, -upstream +ours:\n%s", diff)
					}
					change(c)
				}
			})
		})
	}
}

// compare compares the documents at a path. Upstream lists the resources in random order.
func compare(t *testing.T, ours, upstream http.Handler, path string) {
	t.Helper()
	ourCode, got := get(ours, path, "application/json")
	theirCode, want := get(upstream, path, "application/json")
	if ourCode != theirCode {
		t.Errorf("%s: status %d, upstream's %d", path, ourCode, theirCode)
		return
	}
	if diff := gocmp.Diff(inOrder(t, want), got); diff != "" {
		t.Errorf("%s, -upstream +ours:\n%s", path, diff)
	}
}

// inOrder returns the document with sorted resources, unless it is not a list of resources.
func inOrder(t *testing.T, document string) string {
	t.Helper()
	var list metav1.APIResourceList
	if !strings.Contains(document, `"resources"`) {
		return document
	}
	if err := json.Unmarshal([]byte(document), &list); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(list.APIResources, func(a, b metav1.APIResource) int {
		a.Name, _, _ = strings.Cut(a.Name, "/")
		b.Name, _, _ = strings.Cut(b.Name, "/")
		return cmp.Compare(a.Name, b.Name)
	})
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// startUpstream starts upstream's controller and returns the handler of its documents. The types of
// the two handlers are not exported.
func startUpstream(c *cluster, manager aggregated.ResourceManager) http.Handler {
	construct := reflect.ValueOf(upstream.NewDiscoveryController)
	newHandler := func(parameter int, delegate http.Handler) reflect.Value {
		handler := reflect.New(construct.Type().In(parameter).Elem())
		set := func(name string, value func(reflect.Type) reflect.Value) {
			field := handler.Elem().FieldByName(name)
			reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(value(field.Type()))
		}
		set("discovery", reflect.MakeMap)
		set("delegate", func(reflect.Type) reflect.Value { return reflect.ValueOf(delegate) })
		return handler
	}
	versions := newHandler(1, delegate)
	// Upstream's server chooses one of the two by the path. Each delegates the paths of the other.
	groups := newHandler(2, versions.Interface().(http.Handler))
	results := construct.Call([]reflect.Value{reflect.ValueOf(c), versions, groups, reflect.ValueOf(manager)})
	controller := results[0].Interface().(*upstream.DiscoveryController)
	c.run(func(ctx context.Context) { controller.Run(ctx.Done(), make(chan struct{})) })
	return groups.Interface().(http.Handler)
}

var randomVersions = []string{"v1", "v2", "v1beta1", "v1alpha2", "other"}

func randomDefinition(random *rand.Rand, plural, group string) *definition {
	var list []string
	stored := random.IntN(len(randomVersions))
	for i, version := range randomVersions {
		for _, property := range []string{"served", "status", "scale"} {
			if random.IntN(2) == 0 {
				version += " " + property
			}
		}
		if i == stored {
			version += " stored"
		}
		if i == stored || random.IntN(2) == 0 {
			list = append(list, version)
		}
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	crd := define(plural, group, versions(list...))
	for _, change := range []func(*definition){namespaced, renamed, condition(apiextensionsv1.Terminating)} {
		if random.IntN(3) == 0 {
			change(crd)
		}
	}
	if random.IntN(5) == 0 {
		notEstablished(crd)
	}
	return crd
}

func pick[T any](random *rand.Rand, options ...T) T { return options[random.IntN(len(options))] }
