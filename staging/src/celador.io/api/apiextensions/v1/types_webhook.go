// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// WebhookConversion defines the webhook that converts custom resources.
type WebhookConversion struct {
	// clientConfig defines how the API server connects to the webhook. Required for
	// the strategy "Webhook".
	// +optional
	ClientConfig *WebhookClientConfig `json:"clientConfig,omitempty" protobuf:"bytes,2,name=clientConfig"`

	// conversionReviewVersions are the versions of ConversionReview that the webhook
	// understands, the preferred one first. The API server sends the first that it
	// supports itself. At least one must be supported.
	// +listType=atomic
	ConversionReviewVersions []string `json:"conversionReviewVersions" protobuf:"bytes,3,rep,name=conversionReviewVersions"`
}

// WebhookClientConfig defines how the API server connects to a webhook. Exactly one
// of url and service must be set. The connection uses TLS.
type WebhookClientConfig struct {
	// url is the address of the webhook, 'https://<host>[:<port>]/<path>', without
	// user, query and fragment. The API server resolves the host, and may not know
	// names of the cluster's DNS: use service for a webhook in the cluster. The path
	// may pass a fixed argument to the webhook, such as the name of the cluster. Avoid
	// 'localhost': every host with an API server would need the webhook.
	// +optional
	URL *string `json:"url,omitempty" protobuf:"bytes,3,opt,name=url"`

	// service is the Service in front of the webhook, if it runs in the cluster.
	// +optional
	Service *ServiceReference `json:"service,omitempty" protobuf:"bytes,1,opt,name=service"`

	// caBundle holds the certificates, in PEM format, of the authorities that may have
	// signed the webhook's certificate. Defaults to the authorities that the API
	// server's host trusts.
	// +optional
	CABundle []byte `json:"caBundle,omitempty" protobuf:"bytes,2,opt,name=caBundle"`
}

// ServiceReference is a Service and a path below it.
type ServiceReference struct {
	// namespace is where the Service is. Required.
	Namespace string `json:"namespace" protobuf:"bytes,1,opt,name=namespace"`

	// name identifies the Service in its namespace. Required.
	Name string `json:"name" protobuf:"bytes,2,opt,name=name"`

	// path is the path of the URL that requests are sent to.
	// +optional
	Path *string `json:"path,omitempty" protobuf:"bytes,3,opt,name=path"`

	// port is the port of the Service, from 1 to 65535. Defaults to 443.
	// +optional
	Port *int32 `json:"port,omitempty" protobuf:"varint,4,opt,name=port"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:prerelease-lifecycle-gen:introduced=1.16

// ConversionReview is a conversion by a webhook. The API server sends one with a
// request, and the webhook returns one with a response.
type ConversionReview struct {
	metav1.TypeMeta `json:""`

	// request holds the objects to convert.
	// +optional
	Request *ConversionRequest `json:"request,omitempty" protobuf:"bytes,1,opt,name=request"`

	// response holds the converted objects.
	// +optional
	Response *ConversionResponse `json:"response,omitempty" protobuf:"bytes,2,opt,name=response"`
}

// ConversionRequest asks a webhook to convert objects.
type ConversionRequest struct {
	// uid identifies the call of the webhook, for logs. One API request may cause
	// several calls.
	UID types.UID `json:"uid" protobuf:"bytes,1,name=uid"`

	// desiredAPIVersion is the group and version to convert to, such as
	// 'example.com/v1'.
	DesiredAPIVersion string `json:"desiredAPIVersion" protobuf:"bytes,2,name=desiredAPIVersion"`

	// objects are the custom resources to convert. Their versions may differ.
	// +listType=atomic
	Objects []runtime.RawExtension `json:"objects" protobuf:"bytes,3,rep,name=objects"`
}

// ConversionResponse is the result of a ConversionRequest.
type ConversionResponse struct {
	// uid is the uid of the request.
	UID types.UID `json:"uid" protobuf:"bytes,1,name=uid"`

	// convertedObjects are the converted objects, in the order of request.objects and
	// with the apiVersion request.desiredAPIVersion. Kind, name, namespace and UID of
	// an object must be unchanged. Of metadata, the API server takes only labels and
	// annotations. Empty if the conversion failed.
	// +listType=atomic
	ConvertedObjects []runtime.RawExtension `json:"convertedObjects" protobuf:"bytes,2,rep,name=convertedObjects"`

	// result reports whether the objects were converted: result.status is "Success"
	// or "Failure". Users see result.message of a failure. A webhook reports a failure
	// with HTTP status 200 as well.
	Result metav1.Status `json:"result" protobuf:"bytes,3,name=result"`
}
