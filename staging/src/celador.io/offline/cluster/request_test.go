// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"
)

// Invalid objects of a cluster are errors with their positions.
func TestInvalidObjects(t *testing.T) {
	invalid := strings.Replace(clustertest.Replicas, "object.spec.replicas <= 5", "object.spec.replicas <", 1)
	_, err := cluster.New(t.Context(), clustertest.Backend, clustertest.Parse(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"+invalid+"---\napiVersion: v1\nkind: Pot")...)
	var positions []int
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var o *cluster.ObjectError
		if !errors.As(e, &o) {
			t.Fatalf("%v is not an ObjectError", e)
		}
		positions = append(positions, o.Index)
	}
	if fmt.Sprint(positions) != "[1 3]" {
		t.Errorf("errors are of objects %v, want [1 3]: %v", positions, err)
	}
}

// Policies may be written in the versions that a server serves by default.
func TestPolicyVersions(t *testing.T) {
	for _, policy := range []string{clustertest.Replicas, clustertest.Mutating("a", "Never", clustertest.Apply("Object{spec: Object.spec{replicas: 2}}"))} {
		for version, served := range map[string]bool{"v1": true, "v1beta1": false, "v1alpha1": false} {
			text := strings.ReplaceAll(policy, "admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/"+version)
			_, err := cluster.New(t.Context(), clustertest.Backend, clustertest.Parse(t, text)...)
			if served != (err == nil) || !served && !strings.Contains(err.Error(), "admissionregistration.k8s.io/"+version+" is not served; group \"admissionregistration.k8s.io\" has v1") {
				t.Errorf("%s: error %v\n%s", version, err, text)
			}
		}
	}
}

// Requests do not change the cluster, and may run concurrently.
func TestConcurrentRequests(t *testing.T) {
	c := clustertest.New(t, clustertest.Backend, clustertest.Replicas+"---\n"+clustertest.Widgets)
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			request := &cluster.Request{Operation: admission.Create, Object: clustertest.Deployment(t, fmt.Sprint(i%9))}
			if i%3 == 0 {
				request = &cluster.Request{Operation: admission.Create, Object: clustertest.Widget(t, "v1", "spec: {}")}
			}
			response, err := c.Admit(t.Context(), request)
			if err != nil {
				t.Error(err)
				return
			}
			if want := i%3 == 0 || i%9 <= 5; response.Allowed != want {
				t.Errorf("request %d is allowed: %v, want %v", i, response.Allowed, want)
			}
		})
	}
	all.Wait()
}
