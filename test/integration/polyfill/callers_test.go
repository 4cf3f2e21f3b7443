// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package polyfill

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetesclient "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/polyfill/pkg/registration"
	"celador.io/polyfill/pkg/routing"

	"celador.io/celador/test/integration/serverprocess"
	"celador.io/celador/test/integration/testserver"
)

// webhookCredentials is an AdmissionConfiguration by which API servers present a client certificate
// to webhooks, with the path of a kubeconfig.
const webhookCredentials = `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %[1]s}
- name: MutatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %[1]s}
`

// credentials is a kubeconfig with the client certificate for all webhooks.
const credentials = `{apiVersion: v1, kind: Config, users: [{name: "*", user: {client-certificate: %[1]s/tls.crt, client-key: %[1]s/tls.key}}]}`

// A replica answers callers with a certificate of --client-ca-file only, --max-requests-inflight of
// them at a time, and reviews of one version and a bounded size.
func TestCallers(t *testing.T) {
	dir := t.TempDir()
	certificate, key := serverprocess.NewClientCertificate(t)
	configuration := filepath.Join(dir, "admission.yaml")
	for file, text := range map[string]string{
		"tls.crt": string(certificate), "tls.key": string(key), "kubeconfig": fmt.Sprintf(credentials, dir),
		"admission.yaml": fmt.Sprintf(webhookCredentials, filepath.Join(dir, "kubeconfig")),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, namespace := withLimit(t, "--admission-control-config-file="+configuration)
	r := c.start(t, "--client-ca-file="+filepath.Join(dir, "tls.crt"), "--max-requests-inflight=1", "--webhook-timeout=5s")
	r.awaitReady(t)
	c.awaitDenied(t, namespace, 20, "denied request: too many")

	t.Run("without a certificate", func(t *testing.T) {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		response := testserver.Must(client.Post(r.url()+"/validate/any", "application/json", strings.NewReader("{}")))(t)
		defer response.Body.Close()
		text := testserver.Must(io.ReadAll(response.Body))(t)
		if response.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), "the client has no certificate") {
			t.Errorf("got %d %s", response.StatusCode, text)
		}
	})
	pair := testserver.Must(tls.X509KeyPair(certificate, key))(t)
	t.Run("too many", func(t *testing.T) { testTooMany(t, c, r, namespace, &pair) })
	t.Run("another version", func(t *testing.T) { testAnotherVersion(t, c) })
	t.Run("too large", func(t *testing.T) { testTooLarge(t, c) })
}

func (r *polyfillReplica) url() string {
	return "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port))
}

// testTooMany has a caller that does not end its request. API servers repeat theirs until there is
// room, or until the timeout of the webhook.
func testTooMany(t *testing.T, c *cluster, r *polyfillReplica, namespace string, certificate *tls.Certificate) {
	occupy := func() (release func()) {
		body, writer := io.Pipe()
		request := testserver.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, r.url()+routing.PoliciesPath, body))(t)
		request.ContentLength = int64(len("{}"))
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{*certificate}}}}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if response, err := client.Do(request); err == nil {
				response.Body.Close()
			}
		}()
		testserver.Must(writer.Write([]byte("{")))(t)
		return func() {
			testserver.Must(writer.Write([]byte("}")))(t)
			writer.Close()
			<-ended
		}
	}
	// rejections returns the line of the metric.
	rejections := func(ctx context.Context) (string, error) {
		text, err := r.healthText(ctx, "/metrics")
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, `celador_webhook_rejected_requests_total{reason="too_many_in_flight"}`) {
				return line, err
			}
		}
		return "", err
	}

	release := occupy()
	// A request that was sent before the replica is occupied is decided.
	var failure error
	testserver.Eventually(t, func(ctx context.Context) error {
		if failure = c.deploy(ctx, namespace, 1); failure == nil {
			return errors.New("a request was decided")
		}
		return nil
	})
	if !strings.Contains(failure.Error(), "failed calling webhook") {
		t.Errorf("got error %v", failure)
	}
	before := testserver.Must(rejections(t.Context()))(t)
	decided := make(chan error, 1)
	go func() { decided <- c.deploy(t.Context(), namespace, 20) }()
	testserver.Eventually(t, func(ctx context.Context) error {
		now, err := rejections(ctx)
		if err == nil && now == before {
			err = errors.New("no request was rejected")
		}
		return err
	})
	release()
	if err := <-decided; err == nil || !strings.Contains(err.Error(), "denied request: too many") {
		t.Errorf("got error %v after the replica had room again", err)
	}
}

// testAnotherVersion has a webhook that somebody registered by hand.
func testAnotherVersion(t *testing.T, c *cluster) {
	configurations := c.Core.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	namespace := c.Namespace(t, nil)
	registered := testserver.Must(configurations.Get(t.Context(), registration.Name, metav1.GetOptions{}))(t)
	webhook := registered.Webhooks[len(registered.Webhooks)-1]
	webhook.Name, webhook.AdmissionReviewVersions = "by-hand.example.com", []string{"v1beta1"}
	webhook.Rules[0].APIGroups, webhook.Rules[0].Resources = []string{""}, []string{"configmaps"}
	webhook.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	byHand := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "by-hand"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{webhook},
	}
	testserver.Must(configurations.Create(t.Context(), byHand, metav1.CreateOptions{}))(t)
	defer func() {
		testserver.ExpectDeleted(t, configurations.Delete(t.Context(), byHand.Name, metav1.DeleteOptions{}))
	}()
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := c.Core.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), `failed calling webhook "by-hand.example.com"`) || !strings.Contains(err.Error(), "list v1 first in admissionReviewVersions") {
			return fmt.Errorf("got error %w", err)
		}
		return nil
	})
}

// large matches all changes of config maps, and denies none.
const large = `
metadata: {name: large.example.com}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}
  validations:
  - {expression: object.metadata.name != 'no'}
`

// testTooLarge updates an object whose review has more than 8 MiB, because JSON writes its text in
// six bytes for each. The failurePolicy decides.
func testTooLarge(t *testing.T, c *cluster) {
	namespace := c.Namespace(t, nil)
	policies := c.polyfill.AdmissionregistrationV1()
	policy := testserver.Must(policies.ValidatingAdmissionPolicies().Create(t.Context(), parse[v1.ValidatingAdmissionPolicy](t, large), metav1.CreateOptions{}))(t)
	testserver.Must(policies.ValidatingAdmissionPolicyBindings().Create(t.Context(), &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "large"},
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []v1.ValidationAction{v1.Deny}},
	}, metav1.CreateOptions{}))(t)
	config := rest.CopyConfig(c.server.Admin)
	config.ContentType = runtime.ContentTypeProtobuf // in JSON, the request itself is too large
	client := testserver.Must(kubernetesclient.NewForConfig(config))(t)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "large"}, Data: map[string]string{"text": strings.Repeat("<", 900<<10)}}
	object = testserver.Must(client.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{}))(t)
	update := func(ctx context.Context) error {
		_, err := client.CoreV1().ConfigMaps(namespace).Update(ctx, object, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	const want = "the review of the object has more than 8388608 bytes: make the object smaller, or exclude it by a namespaceSelector or an objectSelector"
	testserver.Eventually(t, func(ctx context.Context) error {
		err := update(ctx)
		if err == nil || !strings.Contains(err.Error(), "failed calling webhook") || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("got error %w", err)
		}
		return nil
	})
	policy = testserver.Must(policies.ValidatingAdmissionPolicies().Get(t.Context(), policy.Name, metav1.GetOptions{}))(t)
	policy.Spec.FailurePolicy = new(v1.Ignore)
	testserver.Must(policies.ValidatingAdmissionPolicies().Update(t.Context(), policy, metav1.UpdateOptions{}))(t)
	testserver.Eventually(t, update)
}
