// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"celador.io/polyfill/pkg/policyapi"

	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
	"celador.io/celador/test/e2e/conformance/process"
)

const (
	// polyfillBlocks is the number of blocks of measurements in scenario S18.
	polyfillBlocks = 200
	// crds is the directory of the polyfill's CustomResourceDefinitions.
	crds = "deploy/webhook/chart/crds"
	// webhookName is the name of the polyfill's Service, and webhookSpace its namespace.
	webhookName, webhookSpace = "celador-webhook", "celador-system"
	installTimeout            = time.Minute
)

// polyfill runs scenario S18: the latency that policies of the polyfill add to the creation of a
// deployment, compared with policies that the servers enforce themselves.
func polyfill(s *session) error { return s.withHosts(s.polyfill) }

func (s *session) polyfill(ctx context.Context, hosts []*host) error {
	h, err := s.startHost(ctx, "polyfill", s.binaries[0])
	if err != nil {
		return err
	}
	defer h.Stop()
	replica, err := s.startPolyfill(ctx, h)
	if err != nil {
		return err
	}
	defer replica.Stop(time.Second)
	hosts = append(hosts, h)
	for _, h := range hosts {
		if err := h.enforce(ctx, policiesFor(enforced, "deployments").Cluster); err != nil {
			return err
		}
		if _, err := h.post(ctx, input.NamespaceName, 10*posts); err != nil { // to warm up
			return err
		}
	}
	latencies := make([]latency, len(hosts))
	for block := range polyfillBlocks {
		if block%20 == 0 {
			s.progress("S18: block %d of %d", block+1, polyfillBlocks)
		}
		for _, i := range inTurn(block, len(hosts)) {
			took, err := hosts[i].post(ctx, input.NamespaceName, posts)
			if err != nil {
				return err
			}
			latencies[i].with = append(latencies[i].with, took)
			if i == 2 {
				continue // the API server calls the polyfill for both namespaces
			}
			if took, err = hosts[i].post(ctx, input.OtherNamespaceName, posts); err != nil {
				return err
			}
			latencies[i].without = append(latencies[i].without, took)
		}
	}
	latencies[2].without = latencies[0].without // the same server
	for _, percentile := range []float64{50, 99} {
		s.addPolyfill(latencies, percentile)
	}
	return nil
}

// addPolyfill adds a row for the latency that policies add at a percentile. latencies are those of
// upstream, of Celador, and of upstream with the polyfill.
func (s *session) addPolyfill(latencies []latency, percentile float64) {
	var added [3]measure.Estimate
	for i := range latencies {
		added[i] = measure.Bootstrap(polyfillBlocks, func(chosen []int) float64 { return latencies[i].added(percentile, chosen) })
	}
	format := report.Nanoseconds.Format
	s.Add(report.Row{
		Scenario: "S18", About: fmt.Sprintf("POST, added by 100 policies of the polyfill, p%g", percentile), Unit: report.Nanoseconds,
		Upstream: added[0].Value, Celador: added[2].Value,
		Note: fmt.Sprintf("95 %% of upstream in the server: %s; celador in the server: %s; the polyfill beside upstream: %s",
			added[0].Format(format), added[1].Format(format), added[2].Format(format)),
	})
}

// startPolyfill installs the polyfill in the cluster of a host and starts a replica on this
// machine. From then on, the host's methods create policies of the polyfill's API group.
func (s *session) startPolyfill(ctx context.Context, h *host) (*process.Process, error) {
	if err := h.installPolyfill(ctx); err != nil {
		return nil, fmt.Errorf("installing the polyfill: %w", err)
	}
	reviews, reviewsErr := process.FreePort()
	health, healthErr := process.FreePort()
	if err := errors.Join(reviewsErr, healthErr); err != nil {
		return nil, err
	}
	port := strconv.Itoa(reviews)
	dir, err := filepath.Abs(s.output)
	if err != nil {
		return nil, err
	}
	binary, err := filepath.Abs(s.webhook)
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(dir, "polyfill.kubeconfig")
	if err := writeKubeconfig(kubeconfig, h.Kubeconfig()); err != nil {
		return nil, err
	}
	s.progress("starting %s", s.webhook)
	return process.Start("polyfill", binary, dir, filepath.Join(dir, "polyfill-webhook.log"),
		"--kubeconfig="+kubeconfig, "--namespace="+webhookSpace, "--service-name="+webhookName, "--service-port="+port,
		"--bind-address=127.0.0.1", "--secure-port="+port, "--health-bind-address="+net.JoinHostPort("127.0.0.1", strconv.Itoa(health)))
}

// installPolyfill creates the objects that the polyfill needs in a cluster. Its Service refers to
// this machine. installPolyfill returns when the server serves the polyfill's API.
func (h *host) installPolyfill(ctx context.Context) error {
	objects, err := dynamic.NewForConfig(h.Config())
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(h.Config())
	if err != nil {
		return err
	}
	if h.policies, err = policyapi.NewForConfigAndClient(h.Config(), client); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	if err != nil {
		return err
	}
	resource := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		crd := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &crd.Object); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if _, err := resource.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if _, err := h.core.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: webhookSpace}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := h.core.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: webhookName + ":" + webhookSpace}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := h.core.CoreV1().Services(webhookSpace).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: webhookName},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, installTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := h.policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
}

// writeKubeconfig writes a copy of the kubeconfig admin with which clients impersonate the
// polyfill's service account, so that no policy of the polyfill decides about the polyfill's own
// requests.
func writeKubeconfig(path, admin string) error {
	config, err := clientcmd.LoadFromFile(admin)
	if err != nil {
		return err
	}
	for _, user := range config.AuthInfos {
		user.Impersonate, user.ImpersonateGroups = "system:serviceaccount:"+webhookSpace+":"+webhookName, []string{"system:masters"}
	}
	return clientcmd.WriteToFile(*config, path)
}
