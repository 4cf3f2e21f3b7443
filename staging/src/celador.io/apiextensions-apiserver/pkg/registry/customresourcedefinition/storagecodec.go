// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
)

// storageCodec stores CustomResourceDefinitions such that Kubernetes' server can take over the
// etcd. A CustomResourceDefinition without expressions is written by Kubernetes' codec, as v1beta1.
// Any other is written as JSON of v1.
type storageCodec struct {
	// upstream reads and writes Kubernetes' internal version.
	upstream runtime.Codec
	// v1 reads v1 in every media type and writes JSON of it.
	v1 runtime.Codec
	// identifier is the key of caches of encoded objects, so it differs from that of upstream.
	identifier runtime.Identifier
}

// newStorageCodec returns a codec between the internal version and its stored forms.
func newStorageCodec(upstream runtime.Codec) storageCodec {
	return storageCodec{
		upstream:   upstream,
		v1:         scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion),
		identifier: runtime.Identifier(fmt.Sprintf("celador.io/customresourcedefinitions(%s)", upstream.Identifier())),
	}
}

// Identifier implements runtime.Encoder.
func (c storageCodec) Identifier() runtime.Identifier { return c.identifier }

// Encode implements runtime.Encoder.
func (c storageCodec) Encode(obj runtime.Object, w io.Writer) error {
	crd, ok := obj.(*apiextensions.CustomResourceDefinition)
	if !ok {
		return c.upstream.Encode(obj, w)
	}
	if crd.Expressions.IsEmpty() {
		return c.upstream.Encode(&crd.CustomResourceDefinition, w)
	}
	return c.v1.Encode(crd, w)
}

// Decode implements runtime.Decoder. into is nil or an *apiextensions.CustomResourceDefinition. As
// in Kubernetes' codec, the result is of the internal version and the returned kind is the stored
// one.
func (c storageCodec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	crd, ok := into.(*apiextensions.CustomResourceDefinition)
	if into == nil {
		crd = &apiextensions.CustomResourceDefinition{}
	} else if !ok {
		return nil, nil, fmt.Errorf("decode a stored CustomResourceDefinition: the storage asked for a %T", into)
	}
	decoded, stored, err := c.upstream.Decode(data, defaults, &crd.CustomResourceDefinition)
	if err != nil {
		return nil, stored, err
	}
	if decoded != runtime.Object(&crd.CustomResourceDefinition) {
		return nil, stored, fmt.Errorf("decode a stored CustomResourceDefinition: the codec returned a %T", decoded)
	}
	// Kubernetes' codec does not see expressions. Only v1 can contain them.
	if stored.GroupVersion() != v1.SchemeGroupVersion {
		crd.Expressions = nil
		return crd, stored, nil
	}
	return c.v1.Decode(data, defaults, crd)
}
