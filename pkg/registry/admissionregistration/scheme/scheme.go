// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scheme holds the types of admissionregistration.k8s.io that this server serves and
// stores. They need a scheme of their own, because Kubernetes' legacyscheme.Scheme binds the policy
// kinds to Kubernetes' Go types.
package scheme

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"celador.io/celador/pkg/apis/admissionregistration/install"
)

var (
	// Scheme holds all versions of the group, including the internal version. It is complete
	// after initialization; adding types later is not safe.
	Scheme = runtime.NewScheme()
	// Codecs makes encoders and decoders for the kinds in Scheme. It is safe for concurrent use.
	Codecs = serializer.NewCodecFactory(Scheme)
	// ParameterCodec converts query parameters into the option types in Scheme. It is safe for
	// concurrent use.
	ParameterCodec = runtime.NewParameterCodec(Scheme)
)

func init() {
	install.Install(Scheme)
}
