// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"bytes"
	"math/rand"
	"testing"

	upstreamv1 "k8s.io/api/admissionregistration/v1"
	upstreamv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	upstreamv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstream "k8s.io/kubernetes/pkg/apis/admissionregistration"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"

	v1 "celador.io/api/admissionregistration/v1"
)

// TestCodecWritesWhatKubernetesWrites decodes objects of each version with Kubernetes' storage
// codec and with Celador's, encodes them again, and compares the bytes. Equal bytes prove that
// fields, their protobuf numbers and their defaults are equal.
func TestCodecWritesWhatKubernetesWrites(t *testing.T) {
	objects := map[string][]runtime.Object{
		"validatingadmissionpolicies": {
			&upstreamv1.ValidatingAdmissionPolicy{}, &upstreamv1beta1.ValidatingAdmissionPolicy{}, &upstreamv1alpha1.ValidatingAdmissionPolicy{},
		},
		"validatingadmissionpolicybindings": {
			&upstreamv1.ValidatingAdmissionPolicyBinding{}, &upstreamv1beta1.ValidatingAdmissionPolicyBinding{}, &upstreamv1alpha1.ValidatingAdmissionPolicyBinding{},
		},
		"mutatingadmissionpolicies": {
			&upstreamv1.MutatingAdmissionPolicy{}, &upstreamv1beta1.MutatingAdmissionPolicy{}, &upstreamv1alpha1.MutatingAdmissionPolicy{},
		},
		"mutatingadmissionpolicybindings": {
			&upstreamv1.MutatingAdmissionPolicyBinding{}, &upstreamv1beta1.MutatingAdmissionPolicyBinding{}, &upstreamv1alpha1.MutatingAdmissionPolicyBinding{},
		},
	}
	for _, mediaType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON, runtime.ContentTypeYAML} {
		theirs, versioner, err := serverstorage.NewStorageCodec(serverstorage.StorageCodecConfig{
			StorageMediaType:  mediaType,
			StorageSerializer: legacyscheme.Codecs,
			StorageVersion:    upstreamv1.SchemeGroupVersion,
			MemoryVersion:     upstream.SchemeGroupVersion,
		})
		if err != nil {
			t.Fatal(err)
		}
		stores, older := recorder{}, recorder{}
		p := provider()
		p.StorageMediaType = mediaType
		if _, err := p.NewRESTStorage(enabled(v1.SchemeGroupVersion), stores); err != nil {
			t.Fatal(err)
		}
		p.EffectiveVersion = effectiveVersion(version.MajorMinor(1, 36), version.MajorMinor(1, 36))
		if _, err := p.NewRESTStorage(enabled(v1.SchemeGroupVersion), older); err != nil {
			t.Fatal(err)
		}
		info, _ := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), mediaType)
		for resource, examples := range objects {
			ours := stores[resource]
			if got, want := ours.EncodeVersioner.Identifier(), versioner.Identifier(); got != want {
				t.Errorf("%s: got encode versioner %s, want %s", resource, got, want)
			}
			for _, example := range examples {
				gvks, _, err := legacyscheme.Scheme.ObjectKinds(example)
				if err != nil {
					t.Fatal(err)
				}
				t.Run(mediaType+" "+gvks[0].Version+" "+resource, func(t *testing.T) {
					filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), legacyscheme.Codecs)
					for range 200 {
						obj := example.DeepCopyObject()
						filler.Fill(obj)
						obj.GetObjectKind().SetGroupVersionKind(gvks[0])
						stored, err := runtime.Encode(info.Serializer, obj)
						if err != nil {
							t.Fatal(err)
						}
						want, got := rewritten(t, theirs, stored), rewritten(t, ours.Codec, stored)
						if emulating := rewritten(t, older[resource].Codec, stored); !bytes.Equal(want, emulating) {
							t.Fatalf("rewritten by Kubernetes:\n%q\nby us, emulating 1.36:\n%q", want, emulating)
						}
						if resource == "mutatingadmissionpolicies" && mediaType == runtime.ContentTypeProtobuf {
							got = rewritten(t, theirs, got) // drops the empty status, a field that Kubernetes lacks
						}
						if !bytes.Equal(want, got) {
							t.Fatalf("rewritten by Kubernetes:\n%q\nby us:\n%q", want, got)
						}
					}
				})
			}
		}
	}
}

func rewritten(t *testing.T, codec runtime.Codec, stored []byte) []byte {
	t.Helper()
	obj, err := runtime.Decode(codec, stored)
	if err != nil {
		t.Fatal(err)
	}
	again, err := runtime.Encode(codec, obj)
	if err != nil {
		t.Fatal(err)
	}
	return again
}
