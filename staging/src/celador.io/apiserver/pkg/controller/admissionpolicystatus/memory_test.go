// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
	"weak"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	v1 "celador.io/api/admissionregistration/v1"
)

// texts holds weak pointers to strings of API objects. A string stays in memory as long as a copy
// of its object, a schema or a report refers to it.
type texts []weak.Pointer[byte]

// unique returns a string that no other string shares memory with.
func (s *texts) unique(prefix string, number int) string {
	text := fmt.Sprintf("%s%032d", prefix, number)
	*s = append(*s, weak.Make(unsafe.StringData(text)))
	return text
}

// held returns the number of strings in memory. Pooled objects take several collections.
func (s texts) held() int {
	held := 0
	for range 10 {
		runtime.GC()
		held = 0
		for _, text := range s {
			if text.Value() != nil {
				held++
			}
		}
		if held == 0 {
			break
		}
	}
	return held
}

// The controller keeps no reference to deleted definitions and policies.
func TestMemoryReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, fitting, "{}"))
		c.kube.PrependReactor("create", "events", func(action clienttesting.Action) (bool, kuberuntime.Object, error) {
			return true, action.(clienttesting.CreateAction).GetObject(), nil
		})
		c.run(t)

		var properties, policies texts
		definition := widgets(t, "a", 1, "{size: {type: integer}}")
		schema := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
		for i := range 10_000 {
			schema[properties.unique("field", i)] = schema["size"]
		}
		if err := c.definitions.Tracker().Add(definition); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var names []string
		for i := range 500 {
			p := policy(t, onWidgets, "{}")
			p.Name, p.UID = policies.unique("policy", i), types.UID(policies.unique("uid", i))
			if i%2 == 0 {
				p.Spec.Validations[0].Expression = fmt.Sprintf("object.spec.nosuchfield%d < 5", i)
			}
			if err := c.policies.Tracker().Add(p); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the fake watch buffers few events
			names = append(names, p.Name)
		}
		c.verdicts.setIneffective(slices.Clone(names), nil)
		time.Sleep(10 * time.Minute) // of the bubble: the controller records events about all of them
		c.verdicts.setIneffective(nil, nil)
		c.settle()
		if got, want := len(c.patches(t)), 1+len(names); got != want {
			t.Fatalf("got %d statuses, want %d", got, want)
		}
		if properties.held() != len(properties) || policies.held() != len(policies) {
			t.Fatal("strings in use are not in memory")
		}

		definition, schema = nil, nil
		if err := c.definitions.Tracker().Delete(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"), "", "widgets.example.com"); err != nil {
			t.Fatal(err)
		}
		c.settle()
		if held := properties.held(); held > 0 {
			t.Errorf("%d of %d properties of the deleted definition are still in memory", held, len(properties))
		}

		for _, name := range names {
			if err := c.policies.Tracker().Delete(v1.SchemeGroupVersion.WithResource("validatingadmissionpolicies"), "", name); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		names = nil
		time.Sleep(time.Hour) // of the bubble: the event broadcaster caches events
		c.settle()
		c.policies.ClearActions()
		c.kube.ClearActions()
		if held := policies.held(); held > 0 {
			t.Errorf("%d of %d names and UIDs of deleted policies are still in memory", held, len(policies))
		}
	})
}
