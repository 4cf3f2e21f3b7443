// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command embedding evaluates a ValidatingAdmissionPolicy from a file for a Deployment, without a
// server.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes/scheme"

	"celador.io/admission/validating"
	admissionv1 "celador.io/api/admissionregistration/v1"
)

//go:embed policy.yaml
var policy []byte

// namespaces is a lister for which every namespace exists and has no labels.
type namespaces struct{}

func (namespaces) GetNamespace(_ context.Context, name string) (*corev1.Namespace, error) {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
}

// check returns the error with which an API server would answer a request to create the deployment.
func check(ctx context.Context, deployment *appsv1.Deployment) error {
	var p admissionv1.ValidatingAdmissionPolicy
	if err := yaml.Unmarshal(policy, &p); err != nil {
		return err
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "everywhere"},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: p.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}

	engine := validating.NewEngine(validating.Config{Namespaces: namespaces{}})
	snapshot, err := engine.NewSnapshot(&p, binding)
	if err != nil {
		return err
	}
	request := admission.NewAttributesRecord(deployment, nil, appsv1.SchemeGroupVersion.WithKind("Deployment"),
		deployment.Namespace, deployment.Name, appsv1.SchemeGroupVersion.WithResource("deployments"), "",
		admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "jane"})
	result, err := engine.Evaluate(ctx, request, admission.NewObjectInterfacesFromScheme(scheme.Scheme), snapshot)
	if err != nil {
		return err
	}
	for _, warning := range result.Warnings() {
		fmt.Println("Warning:", warning)
	}
	return result.Err()
}

func main() {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	deployment.Spec.Replicas = new(int32(9))
	if err := check(context.Background(), deployment); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
