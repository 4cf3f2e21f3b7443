// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/emicklei/go-restful/v3"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"celador.io/admission/modelschema"
)

// A group is an API group with its handlers.
type group struct {
	*genericapiserver.APIGroupInfo
	handlers *restful.Container
	codec    runtime.Codec
	// storage is the codec with which a server stores objects: protobuf, if the group has it.
	// Objects are encoded and decoded with it before a layer holds them, because protobuf does not
	// tell an empty list from a missing one, and policies can see the difference.
	storage runtime.Codec
	// names holds the names of resources by the kinds of their objects.
	names map[schema.GroupVersionKind]string
}

// resource is a resource or subresource in one version.
type resource struct {
	schema.GroupVersionResource
	subresource string
	// kind is the kind of request bodies.
	kind       schema.GroupVersionKind
	namespaced bool
	// prefix is the first part of storage keys.
	prefix string
	// connecter is nil unless the resource accepts connections.
	connecter rest.Connecter
	endpoint
}

// An endpoint handles the requests for a resource. It converts objects between three forms: their
// JSON, the form in which handlers and policies see them, and the form in which layers hold them.
// The implementations are those of built-in groups and of custom resources.
type endpoint interface {
	// decode returns an object with defaults from its JSON, in the form in which handlers see it.
	// Unknown fields are errors.
	decode(data []byte) (runtime.Object, error)
	// encode returns a decoded object in the form in which layers hold it.
	encode(object runtime.Object) (runtime.Object, error)
	// read returns an object of a layer in the version of the resource.
	read(stored runtime.Object) (runtime.Object, error)
	// interfaces returns what policies need to convert a decoded object.
	interfaces() admission.ObjectInterfaces
	// handler returns the handler of requests with the HTTP method.
	handler(method string) (http.Handler, error)
}

// builtIn is the endpoint of the resources of a group.
type builtIn struct {
	*group
	kind        schema.GroupVersionKind
	equivalents runtime.EquivalentResourceMapper
}

func (b builtIn) interfaces() admission.ObjectInterfaces {
	return &admission.RuntimeObjectInterfaces{
		ObjectCreater: b.Scheme, ObjectTyper: b.Scheme, ObjectDefaulter: b.Scheme, ObjectConvertor: b.Scheme,
		EquivalentResourceMapper: b.equivalents,
	}
}

func (b builtIn) decode(data []byte) (runtime.Object, error) {
	object, _, err := b.codec.Decode(data, &b.kind, nil)
	return object, err
}

// encode returns the internal object that a server reads from its storage.
func (b builtIn) encode(object runtime.Object) (runtime.Object, error) {
	return throughStorage(b.storage, object)
}

// throughStorage encodes and decodes an object as the storage of a server does.
func throughStorage(codec runtime.Codec, object runtime.Object) (runtime.Object, error) {
	data, err := runtime.Encode(codec, object)
	if err != nil {
		return nil, err
	}
	return runtime.Decode(codec, data)
}

func (b builtIn) read(stored runtime.Object) (runtime.Object, error) {
	object, err := b.Scheme.ConvertToVersion(stored.DeepCopyObject(), b.kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(b.kind)
	return object, nil
}

func (b builtIn) handler(string) (http.Handler, error) {
	return http.HandlerFunc(b.handlers.Dispatch), nil
}

// path returns the name of the resource as in RBAC rules, such as "pods/exec".
func (r *resource) path() string { return joinPath(r.Resource, r.subresource) }

func joinPath(resource, subresource string) string {
	if subresource == "" {
		return resource
	}
	return resource + "/" + subresource
}

// key returns the storage key of an object of the resource.
func (r *resource) key(namespace, name string) string { return r.root(namespace) + name }

// root returns the prefix of the storage keys of objects in a namespace. The namespace of
// cluster-scoped resources is ignored.
func (r *resource) root(namespace string) string {
	if !r.namespaced {
		return r.all()
	}
	return r.all() + namespace + "/"
}

// all returns the prefix of the storage keys of objects in all namespaces.
func (r *resource) all() string { return "/" + r.prefix + "/" }

// A Base holds the API groups that several clusters share. A group is made when a cluster first
// needs it, which takes milliseconds. It is safe for concurrent use.
type Base struct {
	backend     Backend
	authorizer  authorizer.UnconditionalAuthorizer
	equivalents runtime.EquivalentResourceRegistry

	lock   sync.Mutex
	groups map[string]*group
	// converters maps built-in kinds to functions that return their type converters.
	converters sync.Map
	// schemas holds the schemas of built-in kinds.
	schemas *modelschema.Cache
}

// NewBase returns a base without clusters. If feature gates change, clusters need another base.
func NewBase(backend Backend) *Base {
	return &Base{backend: backend, authorizer: authorizerfactory.NewAlwaysAllowAuthorizer(), equivalents: newEquivalents(), groups: map[string]*group{}, schemas: modelschema.NewCache(backend)}
}

// group returns the API group with the given name. It returns an error if the group is not served.
func (b *Base) group(name string) (*group, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if g, ok := b.groups[name]; ok {
		return g, nil
	}
	g, err := b.open(name)
	if err != nil {
		return nil, err
	}
	b.groups[name] = g
	if other, ok := cohabiting[name]; ok && b.groups[other] == nil {
		if b.groups[other], err = b.open(other); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// cohabiting maps a group to another one that serves the same objects. Policies may match a
// resource of one as equivalent to a resource of the other, so both are opened together.
var cohabiting = map[string]string{corev1.GroupName: eventsv1.GroupName, eventsv1.GroupName: corev1.GroupName}

// open returns a new group. The caller holds the lock.
func (b *Base) open(name string) (*group, error) {
	options := &restOptions{}
	newGroup := b.backend.Group
	if name == apiextensionsv1.GroupName {
		newGroup = newDefinitionGroup
	}
	info, err := newGroup(name, GroupOptions{RESTOptions: options, Authorizer: b.authorizer, Reviewer: reviewer{}, Namespaces: namespaces{}})
	if err != nil {
		return nil, fmt.Errorf("API group %q: %w", name, err)
	}
	if info == nil {
		return nil, fmt.Errorf("API group %q is not served: custom resources need their CustomResourceDefinition among the objects", name)
	}
	g, err := b.install(info)
	if err != nil {
		return nil, fmt.Errorf("API group %q: %w", name, err)
	}
	options.codec.Codec = g.storage
	return g, nil
}

// install returns the group with handlers for all of its versions.
func (b *Base) install(info *genericapiserver.APIGroupInfo) (*group, error) {
	g := &group{APIGroupInfo: info, handlers: restful.NewContainer(), names: map[schema.GroupVersionKind]string{}}
	g.handlers.Router(restful.CurlyRouter{})
	json, _ := runtime.SerializerInfoForMediaType(info.NegotiatedSerializer.SupportedMediaTypes(), runtime.ContentTypeJSON)
	g.codec = runtime.NewCodec(
		info.NegotiatedSerializer.EncoderForVersion(json.Serializer, schema.GroupVersions(info.PrioritizedVersions)),
		info.NegotiatedSerializer.DecoderToVersion(json.StrictSerializer, runtime.InternalGroupVersioner))
	stored := json
	if protobuf, found := runtime.SerializerInfoForMediaType(info.NegotiatedSerializer.SupportedMediaTypes(), runtime.ContentTypeProtobuf); found {
		stored = protobuf
	}
	g.storage = runtime.NewCodec(
		info.NegotiatedSerializer.EncoderForVersion(stored.Serializer, schema.GroupVersions(info.PrioritizedVersions)),
		info.NegotiatedSerializer.DecoderToVersion(stored.Serializer, runtime.InternalGroupVersioner))
	for _, version := range info.PrioritizedVersions {
		storage := info.VersionedResourcesStorageMap[version.Version]
		if len(storage) == 0 {
			continue
		}
		api := &endpoints.APIGroupVersion{
			Storage:                storage,
			Root:                   root(version.Group),
			GroupVersion:           version,
			MetaGroupVersion:       info.MetaGroupVersion,
			OptionsExternalVersion: info.OptionsExternalVersion,
			ParameterCodec:         info.ParameterCodec,
			Serializer:             info.NegotiatedSerializer,
			Creater:                info.Scheme,
			Convertor:              info.Scheme,
			ConvertabilityChecker:  info.Scheme,
			UnsafeConvertor:        runtime.UnsafeObjectConvertor(info.Scheme),
			Defaulter:              info.Scheme,
			Typer:                  info.Scheme,
			Namer:                  runtime.Namer(meta.NewAccessor()),
			// Only managedFields depend on the type converter, and parsing the schemas of all types
			// takes longer than most requests. So the converter deduces types from objects.
			TypeConverter:              managedfields.NewDeducedTypeConverter(),
			EquivalentResourceRegistry: b.equivalents,
			Authorizer:                 b.authorizer,
			Admit:                      admissionChain{},
			MaxRequestBodyBytes:        maxRequestBodyBytes,
		}
		if _, _, err := api.InstallREST(g.handlers); err != nil {
			return nil, err
		}
		for path := range storage {
			if strings.Contains(path, "/") {
				continue
			}
			kind, err := endpoints.GetResourceKind(version, storage[path], info.Scheme)
			if err != nil {
				return nil, err
			}
			// If two resources have objects of the same kind, the name that sorts first is used.
			if name, found := g.names[kind]; !found || path < name {
				g.names[kind] = path
			}
		}
	}
	return g, nil
}

// maxRequestBodyBytes is the limit of servers, unless a program that embeds them has another one.
const maxRequestBodyBytes = 3 << 20

// root returns the first element of the paths of a group.
func root(group string) string {
	if group == "" {
		return "/api"
	}
	return "/apis"
}

// resource returns a served resource or subresource.
func (c *Cluster) resource(r schema.GroupVersionResource, subresource string) (*resource, error) {
	if custom, ok := c.customResources[r.GroupResource()]; ok {
		return custom.resource(r.Version, subresource)
	}
	g, err := c.group(r.Group)
	if err != nil {
		return nil, err
	}
	served := g.VersionedResourcesStorageMap[r.Version]
	if served == nil {
		return nil, g.notServed(r.GroupVersion())
	}
	parent, ok := served[r.Resource]
	if !ok {
		return nil, fmt.Errorf("API version %s has no resource %q", r.GroupVersion(), r.Resource)
	}
	storage, ok := served[joinPath(r.Resource, subresource)]
	if !ok {
		return nil, fmt.Errorf("resource %s has no subresource %q", r.GroupResource(), subresource)
	}
	kind, err := endpoints.GetResourceKind(r.GroupVersion(), storage, g.Scheme)
	if err != nil {
		return nil, err
	}
	connecter, _ := storage.(rest.Connecter)
	return &resource{
		GroupVersionResource: r, subresource: subresource, kind: kind, prefix: r.Resource,
		namespaced: parent.(rest.Scoper).NamespaceScoped(), connecter: connecter, endpoint: builtIn{g, kind, c.equivalents},
	}, nil
}

// resourceOf returns the resource that serves objects of a kind.
func (c *Cluster) resourceOf(kind schema.GroupVersionKind) (*resource, error) {
	for _, custom := range c.customResources {
		if custom.serves(kind.GroupKind()) {
			return custom.resource(kind.Version, "")
		}
	}
	name, err := c.nameOf(kind)
	if err != nil {
		return nil, err
	}
	return c.resource(kind.GroupVersion().WithResource(name), "")
}

// Serves reports whether the backend serves objects of the kind, so that they need no
// CustomResourceDefinition.
func (b *Base) Serves(kind schema.GroupVersionKind) bool {
	_, err := b.nameOf(kind)
	return err == nil
}

// nameOf returns the name of the resource that serves objects of a kind.
func (b *Base) nameOf(kind schema.GroupVersionKind) (string, error) {
	g, err := b.group(kind.Group)
	if err != nil {
		return "", fmt.Errorf("kind %s: %w", kind.Kind, err)
	}
	if name, found := g.names[kind]; found {
		return name, nil
	}
	if kind.Version != "" && len(g.VersionedResourcesStorageMap[kind.Version]) == 0 {
		return "", g.notServed(kind.GroupVersion())
	}
	return "", &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// notServed returns the error of a version that the group does not serve.
func (g *group) notServed(version schema.GroupVersion) error {
	return fmt.Errorf("API version %s is not served; group %q has %s", version, version.Group,
		strings.Join(slices.Sorted(maps.Keys(g.VersionedResourcesStorageMap)), ", "))
}

// restOptions make registries store their objects in layers.
type restOptions struct {
	// codec sets the defaults of stored objects, and makes copies of objects for dry runs.
	codec lateCodec
}

// lateCodec is the codec of a group. The registries of the group need it before it can be made, so
// it is set afterwards.
type lateCodec struct{ runtime.Codec }

// Identifier implements runtime.Encoder. Registries call it before the codec is set.
func (*lateCodec) Identifier() runtime.Identifier { return "cluster" }

// GetRESTOptions implements generic.RESTOptionsGetter. As in kube-apiserver, the storage prefix is
// the name of the resource without its group, so the events of both groups are in one storage.
func (o *restOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig:           &storagebackend.ConfigForResource{Config: storagebackend.Config{Codec: &o.codec}, GroupResource: resource},
		Decorator:               newMemory,
		EnableGarbageCollection: true,
		ResourcePrefix:          resource.Resource,
	}, nil
}

// newEquivalents returns a registry in which resources with the same storage prefix are equivalent.
func newEquivalents() runtime.EquivalentResourceRegistry {
	return runtime.NewEquivalentResourceRegistryWithIdentity(func(resource schema.GroupResource) string { return "/" + resource.Resource })
}
