// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scheme holds the types of admissionregistration.k8s.io as this server
// serves and stores them. They need a scheme of their own, because the scheme
// that upstream's groups share binds the policy kinds to upstream's Go types.
package scheme

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"celador.io/celador/pkg/apis/admissionregistration/install"
)

var (
	// Scheme holds all versions of the group, the internal one included. It is
	// complete when the package is initialized; adding to it later is not safe.
	Scheme = runtime.NewScheme()
	// Codecs makes encoders and decoders for the kinds in Scheme. Safe for
	// concurrent use.
	Codecs = serializer.NewCodecFactory(Scheme)
	// ParameterCodec converts query parameters into the option types in Scheme.
	// Safe for concurrent use.
	ParameterCodec = runtime.NewParameterCodec(Scheme)
)

func init() {
	install.Install(Scheme)
}
