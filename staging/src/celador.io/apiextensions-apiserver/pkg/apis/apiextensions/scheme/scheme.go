// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scheme holds the kinds that the server of CustomResourceDefinitions serves and stores.
// They need a scheme of their own, because Kubernetes' scheme binds the kinds to Kubernetes' Go
// types.
package scheme

import (
	upstreamv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	conversions "celador.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

var (
	// Scheme holds the internal version, v1 and v1beta1 of apiextensions.k8s.io, and the kinds of
	// discovery, watches and errors. The internal version and v1 are Celador's Go types, v1beta1
	// is Kubernetes'. It is complete after initialization; adding types later is not safe.
	Scheme = runtime.NewScheme()
	// Codecs makes encoders and decoders for the kinds in Scheme. It is safe for concurrent use.
	Codecs = serializer.NewCodecFactory(Scheme)
)

func init() {
	utilruntime.Must(apiextensions.AddToScheme(Scheme))
	// A request with v1beta1 is refused, with an error that names the version. To find the version,
	// the decoder must know it.
	utilruntime.Must(upstreamv1beta1.AddToScheme(Scheme))
	utilruntime.Must(conversions.AddToScheme(Scheme))
	utilruntime.Must(Scheme.SetVersionPriority(v1.SchemeGroupVersion, upstreamv1beta1.SchemeGroupVersion))

	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(Scheme, unversioned)
	Scheme.AddUnversionedTypes(unversioned,
		&metav1.Status{}, &metav1.WatchEvent{},
		&metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{},
	)
}
