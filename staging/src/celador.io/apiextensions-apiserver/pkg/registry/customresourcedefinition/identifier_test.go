// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// TestIdentifier demands one identifier for each encoding, since encoded objects are cached by it.
func TestIdentifier(t *testing.T) {
	upstreamScheme := runtime.NewScheme()
	install.Install(upstreamScheme)
	identifiers := map[runtime.Identifier]bool{}
	for _, version := range []schema.GroupVersion{upstreamv1.SchemeGroupVersion, v1beta1.SchemeGroupVersion} {
		wrapped := serializer.NewCodecFactory(upstreamScheme).LegacyCodec(version)
		first, second := newStorageCodec(wrapped).Identifier(), newStorageCodec(wrapped).Identifier()
		if first != second {
			t.Errorf("got identifiers %q and %q of one encoding", first, second)
		}
		identifiers[first], identifiers[wrapped.Identifier()] = true, true
	}
	if len(identifiers) != 4 {
		t.Errorf("got %d identifiers of four encodings: %v", len(identifiers), identifiers)
	}
}
