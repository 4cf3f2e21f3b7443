// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"

	"celador.io/celador/test/benchmark/controlplane"
	"celador.io/celador/test/benchmark/input"
)

// A host is a running kube-apiserver with clients for it.
type host struct {
	*controlplane.Server
	name     string
	core     kubernetes.Interface
	policies clientset.Interface
}

// withHosts starts the kube-apiservers of upstream and Celador, calls use, and stops them. The
// servers run in process groups of their own, so a signal from the terminal does not reach them.
// Therefore the context of use ends on SIGINT and SIGTERM, and the servers are stopped then, too.
func (s *session) withHosts(use func(context.Context, []*host) error) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var hosts []*host
	for i, binary := range s.binaries {
		h, err := s.startHost(ctx, plugins[i], binary)
		if err != nil {
			return err
		}
		defer h.Stop()
		hosts = append(hosts, h)
	}
	return use(ctx, hosts)
}

// startHost starts a kube-apiserver, records its version in the report, and creates the namespace
// of the requests and the one that bindings do not match.
func (s *session) startHost(ctx context.Context, name, binary string) (*host, error) {
	s.progress("starting %s", binary)
	log, err := filepath.Abs(filepath.Join(s.output, name+".log"))
	if err != nil {
		return nil, err
	}
	server, err := controlplane.Start(ctx, binary, log)
	if err != nil {
		return nil, err
	}
	core, coreErr := kubernetes.NewForConfig(server.Config())
	policies, policiesErr := clientset.NewForConfig(server.Config())
	if err := errors.Join(coreErr, policiesErr); err != nil {
		server.Stop()
		return nil, err
	}
	version, err := core.Discovery().ServerVersion()
	if err != nil {
		server.Stop()
		return nil, err
	}
	s.Environment.Servers[name] = version.GitVersion + ", commit " + version.GitCommit
	s.progress("  %s is %s", name, s.Environment.Servers[name])
	h := &host{server, name, core, policies}
	for _, namespace := range []*corev1.Namespace{input.Namespace(), input.OtherNamespace()} {
		if _, err := core.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			server.Stop()
			return nil, err
		}
	}
	return h, nil
}

// dryRun makes the server admit objects without storing them.
var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

// deploy creates a deployment with a generated name.
func (h *host) deploy(ctx context.Context, namespace string, deployment *appsv1.Deployment, options metav1.CreateOptions) error {
	deployment.Name, deployment.Namespace, deployment.GenerateName = "", namespace, "web-"
	_, err := h.core.AppsV1().Deployments(namespace).Create(ctx, deployment, options)
	return err
}

// enforce creates policies and bindings, waits until the server enforces them, and checks that they
// are enforced in the namespace of the requests and in no other.
func (h *host) enforce(ctx context.Context, cluster input.Cluster) error {
	probe := denyingAll("probe", "configmaps")
	cluster.Add(probe, forLabel(probe, 0, "probe", "true"))
	for _, policy := range cluster.Policies {
		if err := h.addPolicy(ctx, policy); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
	}
	for _, binding := range cluster.Bindings {
		if err := h.bind(ctx, binding); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
	}
	if err := h.awaitDenial(ctx, "probe", "true"); err != nil {
		return fmt.Errorf("%s: %w", h.name, err)
	}
	if err := h.deploy(ctx, input.NamespaceName, input.Deployment(input.Excessive), dryRun); !apierrors.IsInvalid(err) {
		return fmt.Errorf("%s answers %v to an object that violates the policies", h.name, err)
	}
	if err := h.deploy(ctx, input.OtherNamespaceName, input.Deployment(input.Excessive), dryRun); err != nil {
		return fmt.Errorf("%s applies policies in the other namespace: %w", h.name, err)
	}
	return nil
}

// addPolicy creates a policy.
func (h *host) addPolicy(ctx context.Context, policy *v1.ValidatingAdmissionPolicy) error {
	policy = policy.DeepCopy()
	policy.ObjectMeta = metav1.ObjectMeta{Name: policy.Name}
	_, err := h.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{})
	return err
}

// bind creates a binding.
func (h *host) bind(ctx context.Context, binding *v1.ValidatingAdmissionPolicyBinding) error {
	binding = binding.DeepCopy()
	binding.ObjectMeta = metav1.ObjectMeta{Name: binding.Name}
	_, err := h.policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{})
	return err
}

// unbind deletes a binding.
func (h *host) unbind(ctx context.Context, binding *v1.ValidatingAdmissionPolicyBinding) error {
	return h.policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, binding.Name, metav1.DeleteOptions{})
}
