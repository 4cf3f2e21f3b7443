// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package paramaccess authorizes users who name a paramKind in a policy or select params in a
// binding. The messages of a policy may quote its params, so a user who selects params must be
// allowed to read them.
package paramaccess

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"

	v1 "celador.io/api/admissionregistration/v1"
)

// Checker authorizes the user of the request in the context. Members of system:masters are always
// allowed. Both fields are required. A Checker is safe for concurrent use if its fields are.
type Checker struct {
	// Authorizer decides whether the user may read params.
	Authorizer authorizer.UnconditionalAuthorizer
	// Resolver finds the resource that serves a paramKind. If it fails, the user needs access to
	// every resource in the API version of the kind.
	Resolver ResourceResolver
}

// ResourceResolver finds the resource that serves a kind. It returns an error if the kind is
// unknown or cannot be looked up.
type ResourceResolver interface {
	Resolve(kind schema.GroupVersionKind) (schema.GroupVersionResource, error)
}

// KindGetter returns the paramKind of the policy with the given name, or nil if the policy has
// none. It returns an error if there is no such policy or reading it fails.
type KindGetter func(ctx context.Context, policy string) (*v1.ParamKind, error)

// ValidateKind returns an error of spec.paramKind unless the user may get all objects of the kind
// in all namespaces, because later bindings may select any of them. It returns nil if kind is nil.
func (c Checker) ValidateKind(ctx context.Context, kind *v1.ParamKind) field.ErrorList {
	if kind == nil {
		return nil
	}
	if err := c.checkKind(ctx, *kind); err != nil {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "paramKind"), err.Error())}
	}
	return nil
}

// ValidateLookups returns an error for each of a policy's lookups unless the user may list and
// watch all objects of the kind in all namespaces, because the policy may be evaluated for a
// request in any namespace.
func (c Checker) ValidateLookups(ctx context.Context, lookups []v1.Lookup) field.ErrorList {
	var errs field.ErrorList
	for i := range lookups {
		if err := c.checkLookup(ctx, v1.ParamKind{APIVersion: lookups[i].APIVersion, Kind: lookups[i].Kind}); err != nil {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "lookups").Index(i), err.Error()))
		}
	}
	return errs
}

func (c Checker) checkLookup(ctx context.Context, kind v1.ParamKind) error {
	who, ok := request.UserFrom(ctx)
	if !ok {
		return errors.New("cannot identify user to authorize read access to objects of lookups")
	}
	if slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup) {
		return nil
	}
	resource, unknown := c.resource(kind)
	for _, verb := range []string{"list", "watch"} {
		allowed, err := c.allowed(ctx, who, verb, resource, "", "")
		switch {
		case err != nil:
			return fmt.Errorf("failed to authorize request: %w", err)
		case !allowed && unknown != nil:
			return fmt.Errorf("no resource of kind %s in %s is served, and user %q must then have %q permission for all resources of the API version", kind.Kind, kind.APIVersion, who.GetName(), verb)
		case !allowed:
			return fmt.Errorf("user %q must have %q permission on %s in all namespaces, because messages of the policy may show what it looks up", who.GetName(), verb, resource.GroupResource())
		}
	}
	return nil
}

func (c Checker) checkKind(ctx context.Context, kind v1.ParamKind) error {
	who, ok := request.UserFrom(ctx)
	if !ok {
		return errors.New("cannot identify user to authorize read access to paramKind resources")
	}
	if slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup) {
		return nil
	}
	// If the resource that serves the kind cannot be found, c.resource returns "*" in its place, so
	// the user needs access to all resources that may serve the kind.
	resource, _ := c.resource(kind)
	allowed, err := c.allowed(ctx, who, "get", resource, "*", "*")
	if err != nil {
		return err
	}
	if !allowed {
		return fmt.Errorf(`user %v must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`, who, kind.Kind, kind.APIVersion)
	}
	return nil
}

// ValidateRef returns an error of spec.paramRef unless the user may read the params that ref
// selects for the named policy: verb get for a name, verb list for a selector, in the namespace of
// ref, or in all namespaces if ref has none. If the policy does not exist or has no paramKind, the
// user needs access to every resource. If the paramKind cannot be resolved, see Checker.Resolver.
// It returns nil if ref is nil.
func (c Checker) ValidateRef(ctx context.Context, ref *v1.ParamRef, policy string, kindOf KindGetter) field.ErrorList {
	if ref == nil {
		return nil
	}
	if err := c.checkRef(ctx, *ref, policy, kindOf); err != nil {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "paramRef"), err.Error())}
	}
	return nil
}

func (c Checker) checkRef(ctx context.Context, ref v1.ParamRef, policy string, kindOf KindGetter) error {
	who, ok := request.UserFrom(ctx)
	if !ok {
		return errors.New("cannot identify user to authorize read access to paramRef object")
	}
	if slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup) {
		return nil
	}
	verb := "get"
	if ref.Name == "" {
		verb = "list"
	}
	resource, unknown := anyResource, error(nil)
	if kind, err := kindOf(ctx, policy); err != nil {
		unknown = fmt.Errorf("unable to get policy %s", policy)
	} else if kind != nil {
		resource, unknown = c.resource(*kind)
	}
	allowed, err := c.allowed(ctx, who, verb, resource, ref.Namespace, ref.Name)
	switch {
	case err != nil:
		return fmt.Errorf("failed to authorize request: %w", err)
	case allowed:
		return nil
	case unknown != nil:
		return fmt.Errorf(`%w to determine minimum required permissions and user %v does not have "%v" permission for all groups, versions and resources`, unknown, who, verb)
	default:
		return fmt.Errorf(`user %v does not have "%v" permission on the object referenced by paramRef`, who, verb)
	}
}

var anyResource = schema.GroupVersionResource{Group: "*", Version: "*", Resource: "*"}

// resource returns the resource that serves the kind. If it returns an error, it uses "*" for each
// unknown part of the resource.
func (c Checker) resource(kind v1.ParamKind) (schema.GroupVersionResource, error) {
	gv, err := schema.ParseGroupVersion(kind.APIVersion)
	if err != nil {
		return anyResource, fmt.Errorf("unable to parse paramKind &{%s %s}", kind.APIVersion, kind.Kind)
	}
	served, err := c.Resolver.Resolve(gv.WithKind(kind.Kind))
	if err != nil {
		return gv.WithResource("*"), fmt.Errorf("unable to resolve paramKind &{%s %s}", kind.APIVersion, kind.Kind)
	}
	return gv.WithResource(served.Resource), nil
}

func (c Checker) allowed(ctx context.Context, who user.Info, verb string, resource schema.GroupVersionResource, namespace, name string) (bool, error) {
	decision, _, err := c.Authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User:            who,
		Verb:            verb,
		APIGroup:        resource.Group,
		APIVersion:      resource.Version,
		Resource:        resource.Resource,
		Namespace:       namespace,
		Name:            name,
		ResourceRequest: true,
	})
	return decision == authorizer.DecisionAllow, err
}
