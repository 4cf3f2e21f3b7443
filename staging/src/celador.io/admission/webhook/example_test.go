// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes/scheme"

	"celador.io/admission/webhook"
)

// A webhook for Pods is not called for requests of kubelets, nor for Pods that opt out of it.
func Example() {
	compiled := webhook.CompileValidating(&v1.ValidatingWebhook{
		Name: "pods.example.com",
		Rules: []v1.RuleWithOperations{{
			Operations: []v1.OperationType{v1.Create},
			Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}},
		MatchConditions: []v1.MatchCondition{
			{Name: "exclude-kubelets", Expression: "!('system:nodes' in request.userInfo.groups)"},
			{Name: "exclude-opted-out", Expression: "object.metadata.?labels['example.com/check'].orValue('yes') == 'yes'"},
		},
	})
	webhooks := webhook.NewSet([]*webhook.Webhook{compiled})
	objects := admission.NewObjectInterfacesFromScheme(scheme.Scheme)

	for _, labels := range []map[string]string{nil, {"example.com/check": "no"}} {
		pod := &corev1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: labels},
		}
		attributes := admission.NewAttributesRecord(pod, nil, pod.GroupVersionKind(), pod.Namespace, pod.Name,
			corev1.SchemeGroupVersion.WithResource("pods"), "", admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "jane", Groups: []string{"system:authenticated"}})

		request := webhooks.NewRequest(context.Background(), attributes, objects, webhook.Config{})
		for _, candidate := range request.Candidates() {
			decision, err := request.Match(candidate)
			switch {
			case err != nil:
				fmt.Println("rejected:", err)
			case decision.Matches:
				fmt.Println("called for", decision.Target.Kind)
			case decision.Excluded:
				fmt.Println("not called because of the match condition", decision.Condition)
			}
		}
	}
	// Output:
	// called for /v1, Kind=Pod
	// not called because of the match condition exclude-opted-out
}
