// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import "k8s.io/apiserver/pkg/admission"

// Converted is implemented by the attributes of a request that an API server sends to a webhook
// after it converted the objects to a version that the webhook's rules name. The kind and resource
// of such attributes are those of the converted objects.
type Converted interface {
	admission.Attributes
	// Original returns the attributes with the kind, resource and subresource of the client's
	// request.
	Original() admission.Attributes
}

// Original returns the attributes with the kind, resource and subresource of the client's request:
// a itself unless it is Converted.
func Original(a admission.Attributes) admission.Attributes {
	if converted, ok := a.(Converted); ok {
		return converted.Original()
	}
	return a
}
