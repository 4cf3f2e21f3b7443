// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/internal/reinvocation"
)

// A MutatingRequest is a Request whose object is changed by webhooks, one after the other. Not safe
// for concurrent use.
type MutatingRequest struct {
	Request
	reinvocation *reinvocation.Tracker[string]
	reinvoked    bool
}

// NewMutatingRequest returns the request with the given attributes. Their reinvocation context
// tells whether admission runs for the second time. Under the name of the plugin, it also keeps
// which webhooks may be invoked again.
//
// After the last webhook, call WriteBack, and then End whether the request is admitted or not.
func (s *Set) NewMutatingRequest(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, c Config, plugin string) *MutatingRequest {
	m := &MutatingRequest{Request: *s.NewRequest(ctx, a, o, c), reinvocation: reinvocation.Of[string](a, plugin)}
	m.mutable = true
	if a.GetReinvocationContext().IsReinvoke() {
		m.reinvoked = true
		m.reinvocation.Resume(a.GetObject())
	}
	return m
}

// Due reports whether a matching webhook, identified by uid, is invoked. That is always so in the
// first run of admission. The second run invokes webhooks with reinvocationPolicy IfNeeded if the
// object has changed since their last invocation.
func (m *MutatingRequest) Due(uid string) bool { return !m.reinvoked || m.reinvocation.Due(uid) }

// Patch applies a JSON patch that a webhook returned for the given kind, and sets defaults. It
// reports whether the patch changed the object. A request without an object is an error.
func (m *MutatingRequest) Patch(kind schema.GroupVersionKind, patch jsonpatch.Patch) (changed bool, err error) {
	v, err := m.version(&kind)
	if err != nil {
		return false, err
	}
	before := v.attributes.VersionedObject.Object()
	if before == nil {
		return false, errors.New("the request has no object")
	}
	after, err := m.patched(before, kind, patch)
	if err != nil {
		return false, err
	}
	changed = !apiequality.Semantic.DeepEqual(before, after)
	v.attributes.UpdateObject(after)
	m.objects.GetObjectDefaulter().Default(after)
	m.matched = nil
	v.changed()
	return changed, nil
}

func (m *MutatingRequest) patched(before runtime.Object, kind schema.GroupVersionKind, patch jsonpatch.Patch) (runtime.Object, error) {
	codec := json.NewSerializerWithOptions(json.DefaultMetaFactory, m.objects.GetObjectCreater(), m.objects.GetObjectTyper(), json.SerializerOptions{})
	text, err := runtime.Encode(codec, before)
	if err != nil {
		return nil, err
	}
	text, err = patch.Apply(text)
	if err != nil {
		return nil, err
	}
	var into runtime.Object = &unstructured.Unstructured{}
	if _, custom := before.(*unstructured.Unstructured); !custom {
		if into, err = m.objects.GetObjectCreater().New(kind); err != nil {
			return nil, err
		}
	}
	after, _, err := codec.Decode(text, nil, into)
	return after, err
}

// Invoked records that a webhook, identified by uid, was invoked, and whether it changed the
// object. A change makes the earlier webhooks with reinvocationPolicy IfNeeded due, and requests a
// second run of admission.
func (m *MutatingRequest) Invoked(w *Webhook, uid string, changed bool) {
	if changed {
		m.reinvocation.Changed()
		m.attributes.GetReinvocationContext().SetShouldReinvoke()
	}
	if w.reinvoked {
		m.reinvocation.Add(uid)
	}
}

// WriteBack converts the changed object, if any, into the object of the attributes.
func (m *MutatingRequest) WriteBack() error {
	for _, v := range m.versions {
		if changed := v.attributes.VersionedObject.Object(); changed != nil && v.attributes.Dirty {
			return m.objects.GetObjectConvertor().Convert(changed, m.attributes.GetObject(), nil)
		}
	}
	return nil
}

// End ends a run of admission. It keeps a copy of the object of the attributes: if admission runs
// again, a difference from the copy shows that other plugins have changed the object.
func (m *MutatingRequest) End() {
	m.reinvocation.Suspend(m.attributes.GetObject())
}
