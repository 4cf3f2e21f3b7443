// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/webhook"
)

// Requests that reuse the memory of others read their own objects, and decisions outlive the
// memory.
func TestFree(t *testing.T) {
	t.Parallel()
	webhooks := set(
		conditional("object.spec.nodeName != 'n3'", "object.metadata.name == 'web'"),
		conditional("object.spec.nodeName != 'n3'", "object.metadata.labels[object.spec.nodeName] == 'x'"),
	)
	decide := func(node string) (called bool, decision webhook.Applicability) {
		a := admission.NewAttributesRecord(pod(node), nil, corev1.SchemeGroupVersion.WithKind("Pod"), "default", "web", pods, "", admission.Create, nil, false, jane)
		request := webhooks.NewRequest(t.Context(), a, objects, webhook.Config{})
		defer request.Free()
		first, err := match(request, 0)
		if err != nil {
			t.Error(err)
		}
		decision, _ = match(request, 1)
		return first.Matches, decision
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			kept := map[string]webhook.Applicability{}
			for i := range 100 {
				node := fmt.Sprintf("n%d", (worker+i)%5)
				called, decision := decide(node)
				if called != (node != "n3") {
					t.Errorf("%s: called is %t", node, called)
				}
				kept[node] = decision
			}
			for node, decision := range kept {
				switch {
				case node == "n3" && decision.Condition != "c0":
					t.Errorf("%s: decision is %+v, want exclusion by c0", node, decision)
				case node != "n3" && (decision.Err == nil || !strings.HasSuffix(decision.Err.Error(), "no such key: labels")):
					t.Errorf("%s: error is %v", node, decision.Err)
				}
			}
		})
	}
	group.Wait()
}
