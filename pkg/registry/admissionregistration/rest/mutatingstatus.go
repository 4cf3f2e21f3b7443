// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	basecompatibility "k8s.io/component-base/compatibility"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

// mutatingStatusIntroduced is the lowest emulated version of Kubernetes with which a server has the
// status of MutatingAdmissionPolicies. The status is Celador's: no release of Kubernetes has it.
var mutatingStatusIntroduced = version.MajorMinor(1, 37)

// HasMutatingStatus reports whether a server of the given version serves the status of
// MutatingAdmissionPolicies. A nil version stands for a server that emulates no other version.
func HasMutatingStatus(effective basecompatibility.EffectiveVersion) bool {
	return effective == nil || effective.EmulationVersion().AtLeast(mutatingStatusIntroduced)
}

// statuslessCodec is a storage codec without the status of MutatingAdmissionPolicies, for servers
// that emulate a version which does not have it. It decodes policies that a newer server has stored
// without their status, just as Kubernetes ignores fields that it does not know.
type statuslessCodec struct {
	runtime.Codec
}

// Decode implements runtime.Decoder.
func (c statuslessCodec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, gvk, err := c.Codec.Decode(data, defaults, into)
	if policy, ok := obj.(*admissionregistration.MutatingAdmissionPolicy); ok {
		policy.Status = v1.MutatingAdmissionPolicyStatus{}
	}
	return obj, gvk, err
}

// statuslessProtobuf encodes MutatingAdmissionPolicies, whose status must be empty, without the
// status field. It is for servers that emulate a version which does not have the field: they store
// what a server of that version stores, and protobuf would write even an empty status.
type statuslessProtobuf struct {
	runtime.Encoder
}

// Encode implements runtime.Encoder.
func (e statuslessProtobuf) Encode(obj runtime.Object, w io.Writer) error {
	gvk := obj.GetObjectKind().GroupVersionKind()
	policy, ok := obj.(interface{ Marshal() ([]byte, error) })
	if gvk.Kind != "MutatingAdmissionPolicy" || !ok {
		return e.Encoder.Encode(obj, w)
	}
	fields, fieldsErr := policy.Marshal()
	status, statusErr := (&v1.MutatingAdmissionPolicyStatus{}).Marshal()
	if err := errors.Join(fieldsErr, statusErr); err != nil {
		return err
	}
	// The status is the last field, because it has the highest field number.
	const tag = 1000<<3 | 2 // field 1000, length-delimited
	field := append(binary.AppendUvarint(nil, tag), byte(len(status)))
	return e.Encoder.Encode(&runtime.Unknown{
		TypeMeta: runtime.TypeMeta{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind},
		Raw:      bytes.TrimSuffix(fields, append(field, status...)),
	}, w)
}
