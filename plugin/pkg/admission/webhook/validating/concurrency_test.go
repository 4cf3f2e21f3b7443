// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"

	"celador.io/celador/plugin/pkg/admission/webhook/validating"
)

// While clients update a webhook configuration, each request is subject to one version of its
// match conditions, which was written and is no older than the version that an earlier request
// was subject to. The last version takes effect.
func TestUpdatesWhileRequestsRun(t *testing.T) {
	const updates, requests = 40, 40
	// The conditions of each version fail with an error that names the version, except for the
	// first webhook, which the conditions exclude.
	webhooks := func(n int64) []v1.ValidatingWebhook {
		var all []v1.ValidatingWebhook
		for i, condition := range []string{fmt.Sprintf("%d < 0", n), fmt.Sprintf("object.spec.v%d == ''", n)} {
			all = append(all, v1.ValidatingWebhook{
				Name: fmt.Sprint("w", i, ".example.com"),
				// Nothing listens there.
				ClientConfig:            v1.WebhookClientConfig{URL: new("https://127.0.0.1:1")},
				Rules:                   []v1.RuleWithOperations{{Operations: []v1.OperationType{v1.OperationAll}, Rule: v1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}}}},
				NamespaceSelector:       &metav1.LabelSelector{},
				ObjectSelector:          &metav1.LabelSelector{},
				AdmissionReviewVersions: []string{"v1"},
				SideEffects:             new(v1.SideEffectClassNone),
				FailurePolicy:           new(v1.Fail),
				MatchConditions:         []v1.MatchCondition{{Name: "c", Expression: condition}},
			})
		}
		return all
	}
	client, informers := webhooktesting.NewFakeValidatingDataSource(namespace, webhooks(1), t.Context().Done())
	p, err := validating.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.SetAuthenticationInfoResolverWrapper(webhooktesting.Wrapper(webhooktesting.NewAuthenticationInfoResolver(new(int32))))
	p.SetServiceResolver(webhooktesting.NewServiceResolver(*parse(t, "https://127.0.0.1:1")))
	p.SetExternalKubeClientSet(client)
	p.SetExternalKubeInformerFactory(informers)
	if err := p.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	informers.Start(t.Context().Done())
	informers.WaitForCacheSync(t.Context().Done())

	var written atomic.Int64
	written.Store(1)
	version := regexp.MustCompile(`no such key: v(\d+)$`)
	// see returns the version that a request sees.
	see := func() int64 {
		err := p.Validate(t.Context(), webhooktesting.NewAttribute(namespace, nil, false), webhooktesting.NewObjectInterfacesForTest())
		if err == nil {
			t.Error("the request is admitted")
			return 0
		}
		named := version.FindStringSubmatch(err.Error())
		if named == nil {
			t.Errorf("got error %v", err)
			return 0
		}
		seen, err := strconv.ParseInt(named[1], 10, 64)
		if err != nil || seen > written.Load() {
			t.Errorf("a request sees version %d, %v, version %d is written", seen, err, written.Load())
		}
		return seen
	}
	until := func(n int64) {
		err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return see() == n, nil })
		if err != nil {
			t.Fatalf("version %d does not take effect: %v", n, err)
		}
	}
	until(1)

	var all sync.WaitGroup
	all.Go(func() {
		configurations := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
		for range updates {
			n := written.Add(1)
			configuration := &v1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "test-webhooks", ResourceVersion: strconv.FormatInt(n, 10)}, Webhooks: webhooks(n)}
			if _, err := configurations.Update(t.Context(), configuration, metav1.UpdateOptions{}); err != nil {
				t.Error(err)
			}
		}
	})
	for range 3 {
		all.Go(func() {
			last := int64(1)
			for range requests {
				seen := see()
				if seen < last {
					t.Errorf("a request sees version %d after one that saw %d", seen, last)
				}
				last = max(last, seen)
			}
		})
	}
	all.Wait()
	until(updates + 1)
}
