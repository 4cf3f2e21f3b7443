// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyapi

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"

	"celador.io/client-go/clientset"
	clientscheme "celador.io/client-go/clientset/scheme"
	admissionregistrationv1 "celador.io/client-go/clientset/typed/admissionregistration/v1"
)

var codecs = func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	utilruntime.Must(AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme)
}()

// The generated clients encode the options of requests, such as ListOptions, with their own scheme,
// in the group version of the request. So the options must be registered in it for the polyfill's
// group.
func init() { metav1.AddToGroupVersion(clientscheme.Scheme, GroupVersion) }

// client is a clientset whose policies and bindings are those of the polyfill.
type client struct {
	clientset.Interface
	policies *admissionregistrationv1.AdmissionregistrationV1Client
}

// AdmissionregistrationV1 implements clientset.Interface.
func (c client) AdmissionregistrationV1() admissionregistrationv1.AdmissionregistrationV1Interface {
	return c.policies
}

// NewForConfigAndClient returns a clientset whose AdmissionregistrationV1 reads and writes the
// polyfill's kinds. It returns an error if the configuration is invalid. Safe for concurrent use.
func NewForConfigAndClient(config *rest.Config, h *http.Client) (clientset.Interface, error) {
	others, err := clientset.NewForConfigAndClient(config, h)
	if err != nil {
		return nil, err
	}
	c := rest.CopyConfig(config)
	c.APIPath, c.GroupVersion = "/apis", &GroupVersion
	c.NegotiatedSerializer = codecs.WithoutConversion()
	c.ContentType = runtime.ContentTypeJSON // of custom resources
	c.AcceptContentTypes = runtime.ContentTypeJSON
	policies, err := rest.RESTClientForConfigAndClient(c, h)
	if err != nil {
		return nil, fmt.Errorf("creating the client for %s: %w", GroupVersion, err)
	}
	return client{others, admissionregistrationv1.New(policies)}, nil
}
