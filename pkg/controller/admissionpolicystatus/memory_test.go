// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"fmt"
	"runtime"
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

// texts are in memory as long as anything has a copy of the objects that they are from: a
// copy of an object, a schema or an outcome refers to the same text.
type texts []weak.Pointer[byte]

// unique returns a text that is nowhere else, and is long enough to be by itself in memory.
func (s *texts) unique(prefix string, number int) string {
	text := fmt.Sprintf("%s%032d", prefix, number)
	*s = append(*s, weak.Make(unsafe.StringData(text)))
	return text
}

// held returns how many are still in memory. Some things take several collections to go.
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

// Nothing is kept of a definition that is deleted, nor of policies that are.
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
			synctest.Wait() // the fake has room for few events
			names = append(names, p.Name)
		}
		c.settle()
		if got, want := len(c.patches(t)), 1+len(names); got != want {
			t.Fatalf("got %d statuses, want %d", got, want)
		}
		if properties.held() != len(properties) || policies.held() != len(policies) {
			t.Fatal("the test does not see what is in memory")
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
		time.Sleep(time.Hour) // of the bubble: events are remembered for a while
		c.settle()
		c.policies.ClearActions()
		c.kube.ClearActions()
		if held := policies.held(); held > 0 {
			t.Errorf("%d of %d names and UIDs of deleted policies are still in memory", held, len(policies))
		}
	})
}
