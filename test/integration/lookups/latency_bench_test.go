// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookups

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/integration/testserver"
)

// BenchmarkLatency changes an object and sends requests until a policy sees the change. It reports
// the time from the event of a client's watch, and from the answer to the change, until the first
// request was sent that saw it. A request that was sent before the event counts as 0.
func BenchmarkLatency(b *testing.B) {
	namespace := admin.Namespace(b, nil)
	validate(b, configMaps(namespace)+`
lookups: [{name: services, apiVersion: v1, kind: Service, index: item.metadata.name}]
validations:
- expression: "false"
  messageExpression: "'version ' + lookups.services.indexed('changing')[0].metadata.labels.version + '.'"`)
	services := admin.Core.CoreV1().Services(namespace)
	changing := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "changing", Labels: map[string]string{"version": "0"}}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	changing = testserver.Must(services.Create(b.Context(), changing, metav1.CreateOptions{}))(b)
	watched := testserver.Must(services.Watch(b.Context(), metav1.ListOptions{ResourceVersion: changing.ResourceVersion}))(b)
	defer watched.Stop()
	type event struct {
		version string
		at      time.Time
	}
	events := make(chan event, 100)
	go func() {
		for e := range watched.ResultChan() {
			if service, ok := e.Object.(*corev1.Service); ok {
				events <- event{service.Labels["version"], time.Now()}
			}
		}
	}()
	sees := func(version string) (sent time.Time, ok bool) {
		sent = time.Now()
		_, err := tryConfigMap(b.Context(), namespace)
		return sent, err != nil && strings.Contains(err.Error(), "version "+version+".")
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		if _, ok := sees("0"); ok {
			break
		}
		if time.Now().After(deadline) {
			b.Fatal("the policy is not in effect")
		}
	}
	var sinceEvent, sinceAnswer []time.Duration
	for version := 1; b.Loop(); version++ {
		text := strconv.Itoa(version)
		changing.Labels["version"] = text
		changing = testserver.Must(services.Update(b.Context(), changing, metav1.UpdateOptions{}))(b)
		answered := time.Now()
		sent, ok := sees(text)
		for !ok {
			sent, ok = sees(text)
		}
		seen := <-events
		for seen.version != text {
			seen = <-events
		}
		sinceEvent, sinceAnswer = append(sinceEvent, max(0, sent.Sub(seen.at))), append(sinceAnswer, sent.Sub(answered))
	}
	report := func(name string, times []time.Duration) {
		slices.Sort(times)
		for _, percent := range []int{50, 99, 100} {
			at := max(0, (len(times)*percent+99)/100-1)
			b.ReportMetric(float64(times[at].Microseconds())/1000, name+"-p"+strconv.Itoa(percent)+"-ms")
		}
	}
	report("event", sinceEvent)
	report("answer", sinceAnswer)
	b.ReportMetric(0, "ns/op")
}
