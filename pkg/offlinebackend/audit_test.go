// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"celador.io/offline/audit"
	"celador.io/offline/cluster/clustertest"
	"celador.io/offline/live"

	"celador.io/celador/pkg/offlinebackend"
)

// sequence yields objects to audit.
func sequence(objects ...*unstructured.Unstructured) iter.Seq2[audit.Object, error] {
	return func(yield func(audit.Object, error) bool) {
		for _, object := range objects {
			if !yield(audit.Object{Unstructured: object}, nil) {
				return
			}
		}
	}
}

// newAuditor returns an auditor of 100 policies.
func newAuditor(b *testing.B) *audit.Auditor {
	var policies []string
	for i := range 100 {
		policies = append(policies, strings.Replace(strings.SplitN(clustertest.Replicas, "\n---\n", 2)[0], "replicas.example.com", fmt.Sprintf("replicas-%d.example.com", i), 1))
	}
	a, err := audit.New(b.Context(), audit.Config{Backend: offlinebackend.KubeAPIServer, Added: clustertest.Parse(b, strings.Join(policies, "\n---\n")), MaxViolations: 1000})
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// BenchmarkAudit measures 100 policies over 1,000 Deployments.
func BenchmarkAudit(b *testing.B) {
	const policies = 100
	a := newAuditor(b)
	objects := make([]*unstructured.Unstructured, 1000)
	for i := range objects {
		objects[i] = clustertest.Deployment(b, "9")
	}
	b.ReportAllocs()
	for b.Loop() {
		report, err := a.Audit(b.Context(), sequence(objects...), func(int) {})
		if err != nil || report.Violations() != len(objects)*policies {
			b.Fatal(report.Violations(), err)
		}
	}
}

// BenchmarkAuditOfCluster measures 100 policies over the 100,000 Deployments of a server, and the
// most memory that the process, which is the server, too, ever had.
func BenchmarkAuditOfCluster(b *testing.B) {
	const pages, pageSize = 200, 500
	item, err := json.Marshal(clustertest.Deployment(b, "3").Object)
	if err != nil {
		b.Fatal(err)
	}
	items := strings.Repeat(string(item)+",", pageSize-1) + string(item)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api":
			fmt.Fprint(w, `{"kind": "APIVersions", "versions": []}`)
		case "/apis":
			fmt.Fprint(w, `{"kind": "APIGroupList", "groups": [{"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}], "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"}}]}`)
		case "/apis/apps/v1":
			fmt.Fprint(w, `{"kind": "APIResourceList", "groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment", "namespaced": true, "verbs": ["create", "list"]}]}`)
		default:
			page, _ := strconv.Atoi(r.URL.Query().Get("continue"))
			token := strconv.Itoa(page + 1)
			if page+1 == pages {
				token = ""
			}
			fmt.Fprintf(w, `{"apiVersion": "apps/v1", "kind": "DeploymentList", "metadata": {"continue": %q}, "items": [%s]}`, token, items)
		}
	}))
	defer server.Close()
	c, err := live.New(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		b.Fatal(err)
	}
	a := newAuditor(b)
	objects := func(yield func(audit.Object, error) bool) {
		for object, err := range c.Objects(b.Context(), live.Filter{Resource: a.Matches}) {
			if !yield(audit.Object{Unstructured: object}, err) {
				return
			}
		}
	}
	for b.Loop() {
		report, err := a.Audit(b.Context(), objects, func(int) {})
		if err != nil || report.Objects != pages*pageSize || report.Violations() != 0 {
			b.Fatal(report, err)
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	peak, err := strconv.Atoi(regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(string(status))[1])
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(peak)/1024, "peak-MiB")
}
