// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"

	"celador.io/celador/pkg/localserver"
	"celador.io/celador/test/benchmark/input"
	testetcd "celador.io/celador/test/etcd"
)

// BenchmarkSettle measures the time until a server has written the status of all stored policies,
// and the time of a server that finds them with a status.
//
//	go test ./test/integration/startup -run '^$' -bench Settle -benchtime 1x
func BenchmarkSettle(b *testing.B) {
	klog.SetLogger(logr.Discard())
	for _, policies := range []int{1000} {
		b.Run(fmt.Sprint(policies, " policies"), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dir := b.TempDir()
				store(b, filepath.Join(dir, "etcd"), policies)
				b.StartTimer()
				for _, what := range []string{"first", "again"} {
					settle(b, dir, what, policies)
				}
			}
		})
	}
}

// settle runs a server until all policies have their status. It reports the time until the server
// is ready, and the time from then on.
func settle(b *testing.B, dir, what string, policies int) {
	started := time.Now()
	server, err := localserver.Start(b.Context(), localserver.Options{DataDir: dir})
	if err != nil {
		b.Fatal(err)
	}
	ready := time.Now()
	defer func() {
		if err := server.Stop(); err != nil {
			b.Error(err)
		}
	}()
	config := server.RESTConfig()
	config.QPS = -1
	client, err := clientset.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(b.Context(), 20*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		// The server's cache is current enough.
		list, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return false, err
		}
		settled := 0
		for _, policy := range list.Items {
			if meta.FindStatusCondition(policy.Status.Conditions, v1.PolicyConditionTypeChecked) != nil {
				settled++
			}
		}
		return settled == policies, nil
	})
	if err != nil {
		b.Fatalf("the policies do not settle: %v", err)
	}
	b.ReportMetric(ready.Sub(started).Seconds(), what+"-ready-s")
	b.ReportMetric(time.Since(started).Seconds(), what+"-settled-s")
}

// store writes policies without a status into the etcd that keeps its data in dir.
func store(b *testing.B, dir string, policies int) {
	server, err := testetcd.Start(b.Context(), dir, filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{server.URL()}})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	scheme := runtime.NewScheme()
	utilruntime.Must(v1.AddToScheme(scheme))
	encoder := protobuf.NewSerializer(scheme, scheme)
	for i := range policies {
		policy := input.Policy(i, "deployments")
		policy.ResourceVersion = ""
		value, err := runtime.Encode(encoder, policy)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := client.Put(b.Context(), "/registry/validatingadmissionpolicies/"+policy.Name, string(value)); err != nil {
			b.Fatal(err)
		}
	}
}
