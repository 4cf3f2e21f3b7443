// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/client/v3/kubernetes"
	upstreamv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	registryrest "k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	etcdtesting "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstream "k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/kubeapiserver"
	upstreampolicies "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy/storage"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/api/admissionregistration/v1beta1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/rest"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// server holds the storage options of a kube-apiserver, and the etcd that they name.
type server struct {
	generic.RESTOptionsGetter
	etcd   *kubernetes.Client
	config *storagebackend.Config
}

// newServer returns the options of a server that emulates a version, unless that is empty, and
// marks stored data as encrypted if sealed is set.
func newServer(t *testing.T, mediaType, emulated string, sealed bool) server {
	etcd, config := etcdtesting.NewUnsecuredEtcd3TestClientServer(t)
	config.EventsHistoryWindow = storagebackend.DefaultEventsHistoryWindow
	etcdOptions := options.NewEtcdOptions(config)
	etcdOptions.DefaultStorageMediaType = mediaType
	factoryConfig := kubeapiserver.NewStorageFactoryConfig()
	if emulated != "" {
		factoryConfig = kubeapiserver.NewStorageFactoryConfigEffectiveVersion(basecompatibility.NewEffectiveVersionFromString("1.37", emulated, emulated))
	}
	factoryConfig.APIResourceConfig = enabled(v1.SchemeGroupVersion, v1beta1.SchemeGroupVersion)
	factory, err := factoryConfig.Complete(etcdOptions).New()
	if err != nil {
		t.Fatal(err)
	}
	var transformers value.ResourceTransformers
	if sealed {
		transformers = seal{}
	}
	return server{etcdOptions.CreateRESTOptionsGetter(factory, transformers), etcd.V3Client, config}
}

// install returns the group with v1 and v1beta1 enabled.
func (s server) install(t *testing.T, mediaType string) genericapiserver.APIGroupInfo {
	t.Helper()
	p := provider()
	p.StorageMediaType = mediaType
	return s.installFrom(t, p)
}

// installFrom returns the group of a provider with v1 and v1beta1 enabled.
func (s server) installFrom(t *testing.T, p rest.StorageProvider) genericapiserver.APIGroupInfo {
	t.Helper()
	group, err := p.NewRESTStorage(enabled(v1.SchemeGroupVersion, v1beta1.SchemeGroupVersion), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, resources := range group.VersionedResourcesStorageMap {
		for _, storage := range resources {
			t.Cleanup(storage.Destroy)
		}
	}
	return group
}

func (s server) raw(t *testing.T, key string) []byte {
	t.Helper()
	found, err := s.etcd.Get(t.Context(), s.config.Prefix+key, kubernetes.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if found.KV == nil {
		t.Fatalf("etcd has no key %s%s", s.config.Prefix, key)
	}
	return found.KV.Value
}

// seal is an encryption provider that puts a prefix before the data instead of encrypting it.
type seal struct{}

func (seal) TransformerForResource(schema.GroupResource) value.Transformer {
	return value.NewPrefixTransformers(nil, value.PrefixTransformer{Prefix: []byte("sealed:"), Transformer: identity.NewEncryptCheckTransformer()})
}

func by(ctx context.Context, who user.Info, version string) context.Context {
	ctx = request.WithUser(request.WithNamespace(ctx, ""), who)
	return request.WithRequestInfo(ctx, &request.RequestInfo{IsResourceRequest: true, APIGroup: admissionregistration.GroupName, APIVersion: version})
}

func create(ctx context.Context, storage registryrest.Storage, obj runtime.Object) error {
	_, err := storage.(registryrest.Creater).Create(ctx, obj, registryrest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	return err
}

var (
	root  = &user.DefaultInfo{Name: "root", Groups: []string{user.SystemPrivilegedGroup}}
	alice = &user.DefaultInfo{Name: "alice"}
)

const manifest = `{
	"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
	"metadata": {"name": "demo", "labels": {"team": "blue"}},
	"spec": {
		"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
		"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]},
		"variables": [{"name": "replicas", "expression": "object.spec.replicas"}],
		"validations": [{"expression": "variables.replicas <= 5", "reason": "Forbidden", "message": "too many"}]
	}
}`

// TestEtcdIsInterchangeable reads each policy with the server that stored it and with the other
// one.
func TestEtcdIsInterchangeable(t *testing.T) {
	for name, tc := range map[string]struct {
		mediaType, emulated string
		sealed              bool
		wantPrefix          string
	}{
		"protobuf":       {mediaType: runtime.ContentTypeProtobuf, wantPrefix: "k8s\x00"},
		"json":           {mediaType: runtime.ContentTypeJSON, wantPrefix: `{"kind":"ValidatingAdmissionPolicy","apiVersion":"admissionregistration.k8s.io/v1"`},
		"by default":     {wantPrefix: `{"kind":"ValidatingAdmissionPolicy","apiVersion":"admissionregistration.k8s.io/v1"`},
		"encrypted":      {mediaType: runtime.ContentTypeProtobuf, sealed: true, wantPrefix: "sealed:k8s\x00"},
		"emulating 1.29": {mediaType: runtime.ContentTypeJSON, emulated: "1.29", wantPrefix: `{"kind":"ValidatingAdmissionPolicy","apiVersion":"admissionregistration.k8s.io/v1"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, tc.mediaType, tc.emulated, tc.sealed)
			ours := s.install(t, tc.mediaType).VersionedResourcesStorageMap["v1beta1"]["validatingadmissionpolicies"]
			theirs, _, err := upstreampolicies.NewREST(s, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(theirs.Destroy)
			ctx := by(t.Context(), root, "v1")

			if err := create(ctx, ours, decoded(t, scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion), manifest)); err != nil {
				t.Fatal(err)
			}
			if err := create(ctx, theirs, decoded(t, legacyscheme.Codecs.UniversalDecoder(upstream.SchemeGroupVersion), strings.Replace(manifest, `"demo"`, `"stock"`, 1))); err != nil {
				t.Fatal(err)
			}
			if stored := s.raw(t, "/validatingadmissionpolicies/demo"); !bytes.HasPrefix(stored, []byte(tc.wantPrefix)) {
				t.Errorf("stored in etcd: %q, want it to begin with %q", stored, tc.wantPrefix)
			}
			for _, policy := range []string{"demo", "stock"} {
				want, err := theirs.Get(ctx, policy, &metav1.GetOptions{})
				if err != nil {
					t.Fatalf("Kubernetes reads %s: %v", policy, err)
				}
				got, err := ours.(registryrest.Getter).Get(ctx, policy, &metav1.GetOptions{})
				if err != nil {
					t.Fatalf("we read %s: %v", policy, err)
				}
				if diff := cmp.Diff(encoded(t, legacyscheme.Codecs.LegacyCodec(upstreamv1.SchemeGroupVersion), want), encoded(t, scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion), got)); diff != "" {
					t.Errorf("%s (-Kubernetes +us):\n%s", policy, diff)
				}
			}
		})
	}
}

// TestParamAccess shows that the user, discovery and the stored policy decide whether a write
// that names params is allowed.
func TestParamAccess(t *testing.T) {
	binding := func(policy, param string) *admissionregistration.ValidatingAdmissionPolicyBinding {
		return &admissionregistration.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "demo-"},
			Spec: v1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName:        policy,
				ParamRef:          &v1.ParamRef{Name: param, Namespace: "default", ParameterNotFoundAction: new(v1.DenyAction)},
				ValidationActions: []v1.ValidationAction{v1.Deny},
			},
		}
	}
	policy := decoded(t, scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion), manifest)
	s := newServer(t, runtime.ContentTypeProtobuf, "", false)
	group := s.install(t, runtime.ContentTypeProtobuf).VersionedResourcesStorageMap
	if err := create(by(t.Context(), root, "v1"), group["v1"]["validatingadmissionpolicies"], policy); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		who     user.Info
		storage registryrest.Storage
		obj     runtime.Object
		want    string
	}{
		"policy":                 {alice, group["v1"]["validatingadmissionpolicies"], policy, `spec.paramKind: Forbidden: user &{alice  [] map[]} must have "get" permission on all objects of the referenced paramKind`},
		"readable param":         {alice, group["v1"]["validatingadmissionpolicybindings"], binding("demo", "readable"), ""},
		"unreadable param":       {alice, group["v1beta1"]["validatingadmissionpolicybindings"], binding("demo", "hidden"), `spec.paramRef: Forbidden: user &{alice  [] map[]} does not have "get" permission on the object referenced by paramRef`},
		"unknown policy":         {alice, group["v1"]["validatingadmissionpolicybindings"], binding("other", "readable"), `spec.paramRef: Forbidden: unable to get policy other to determine minimum required permissions`},
		"unreadable, privileged": {root, group["v1"]["validatingadmissionpolicybindings"], binding("other", "hidden"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			expectInvalid(t, create(by(t.Context(), tc.who, "v1"), tc.storage, tc.obj.DeepCopyObject()), tc.want)
		})
	}

	// If policies are not served, nobody knows the paramKind of a binding, and only a user who may
	// read everything can write one.
	config := enabled(v1.SchemeGroupVersion)
	config.DisableResources(v1.SchemeGroupVersion.WithResource("validatingadmissionpolicies"))
	bindings, err := provider().NewRESTStorage(config, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, storage := range bindings.VersionedResourcesStorageMap["v1"] {
		t.Cleanup(storage.Destroy)
	}
	expectInvalid(t, create(by(t.Context(), alice, "v1"), bindings.VersionedResourcesStorageMap["v1"]["validatingadmissionpolicybindings"], binding("demo", "readable")),
		`spec.paramRef: Forbidden: unable to get policy demo to determine minimum required permissions`)
}

func expectInvalid(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "":
		if err != nil {
			t.Error(err)
		}
	case !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want):
		t.Errorf("got error %v, want an invalid one with %q", err, want)
	}
}

func decoded(t *testing.T, decoder runtime.Decoder, manifest string) runtime.Object {
	t.Helper()
	obj, err := runtime.Decode(decoder, []byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func encoded(t *testing.T, encoder runtime.Encoder, obj runtime.Object) string {
	t.Helper()
	text, err := runtime.Encode(encoder, obj)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
