// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	appsv1 "k8s.io/api/apps/v1"
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
// context of use ends on SIGINT and SIGTERM, because the servers do not receive the terminal's
// signals and must be stopped then.
func (s *session) withHosts(use func(context.Context, []*host) error) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var hosts []*host
	for i, binary := range s.binaries {
		h, err := s.startHost(ctx, plugins[i].name, binary)
		if err != nil {
			return err
		}
		defer h.Stop()
		hosts = append(hosts, h)
	}
	return use(ctx, hosts)
}

// startHost starts a kube-apiserver and creates the namespace of all requests.
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
	h := &host{server, name, core, policies}
	if _, err := core.CoreV1().Namespaces().Create(ctx, input.Namespace(), metav1.CreateOptions{}); err != nil {
		server.Stop()
		return nil, err
	}
	return h, nil
}

// deploy creates a deployment with a generated name.
func (h *host) deploy(ctx context.Context, deployment *appsv1.Deployment, options metav1.CreateOptions) error {
	deployment.Name, deployment.GenerateName = "", "web-"
	_, err := h.core.AppsV1().Deployments(input.NamespaceName).Create(ctx, deployment, options)
	return err
}

// withLabel returns a deployment that policies admit, with one more label for bindings to select.
func withLabel(key, value string) *appsv1.Deployment {
	deployment := input.Deployment(input.Allowed)
	deployment.Labels[key] = value
	return deployment
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
