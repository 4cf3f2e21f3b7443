// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package testserver

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
)

// Aggregate runs a server until the end of the test, and registers it with the aggregator for
// version v1 of a group until the returned function is called.
func (c Clients) Aggregate(t *testing.T, group string, handler http.Handler) (unregister func()) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections() // of watches
		server.Close()
	})
	_, text, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port := int32(Must(strconv.ParseInt(text, 10, 32))(t))
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: UniqueName("aggregated")},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	services := c.Core.CoreV1().Services(metav1.NamespaceDefault)
	registrations := Must(aggregator.NewForConfig(c.Config))(t).ApiregistrationV1().APIServices()
	Must(services.Create(t.Context(), service, metav1.CreateOptions{}))(t)
	registration := Must(registrations.Create(t.Context(), &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: "v1." + group},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: group, Version: "v1", GroupPriorityMinimum: 1000, VersionPriority: 15,
			Service:               &apiregistrationv1.ServiceReference{Namespace: metav1.NamespaceDefault, Name: service.Name, Port: &port},
			InsecureSkipTLSVerify: true,
		},
	}, metav1.CreateOptions{}))(t)
	return func() {
		if err := registrations.Delete(context.Background(), registration.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		if err := services.Delete(context.Background(), service.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
}
