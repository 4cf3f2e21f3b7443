// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// yaml returns YAML as JSON, and whether the YAML is in the form that servers write.
func (n *names) yaml(text string) string {
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return "no YAML: " + n.words(text)
	}
	again, err := yaml.JSONToYAML(converted)
	if err != nil {
		return err.Error()
	}
	object, _ := n.object(converted)
	return fmt.Sprintf("%s\n(YAML, usual form %t)", object, string(again) == text)
}

// cbor returns CBOR as JSON, and whether the CBOR is in the deterministic form that servers
// write.
func (n *names) cbor(body []byte) string {
	var value any
	if err := direct.Unmarshal(body, &value); err != nil {
		return "no CBOR: " + err.Error() + "\n" + hex.Dump(body)
	}
	again, err := direct.Marshal(value)
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	object, ok := n.object(text)
	// Servers put the tag of self-described CBOR in front.
	return fmt.Sprintf("%s\n(CBOR, JSON %t, deterministic %t)", object, ok, bytes.HasSuffix(body, bytes.TrimPrefix(again, []byte{0xd9, 0xd9, 0xf7})))
}

// messages are the types that servers return as protobuf.
var messages = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(autoscalingv1.AddToScheme(scheme))
	scheme.AddUnversionedTypes(schema.GroupVersion{Version: "v1"}, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	utilruntime.Must(metav1.AddMetaToScheme(scheme))
	return scheme
}()

// protobuf returns the JSON form of a protobuf message.
func (n *names) protobuf(body []byte) string {
	object, kind, err := protobuf.NewSerializer(messages, messages).Decode(body, nil, nil)
	if err != nil {
		return "no protobuf: " + err.Error() + "\n" + hex.Dump(body)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err.Error()
	}
	normal, _ := n.object(text)
	return fmt.Sprintf("%s\n%s\n(protobuf)", kind, normal)
}
