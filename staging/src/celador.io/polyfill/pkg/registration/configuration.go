// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"context"
	"fmt"
	"maps"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"celador.io/polyfill/pkg/policyapi"
)

// Name is the name of both webhook configurations. It does not depend on the release, so that a
// cluster has one polyfill.
var Name = policyapi.GroupVersion.Group

const (
	// ownerAnnotation holds the namespace and name of the service of the release to which a
	// configuration belongs.
	ownerAnnotation = "policy.celador.io/owner"
	// routesAnnotation holds routing.Members in JSON.
	routesAnnotation = "policy.celador.io/routes"
	// uninstalledAnnotation holds the UID of the ClusterRole of a release that was uninstalled.
	uninstalledAnnotation = "policy.celador.io/uninstalled"

	fieldManager = "celador-webhook"
)

// release identifies an installation of the polyfill by its service.
type release struct{ namespace, service string }

func (r release) String() string { return r.namespace + "/" + r.service }

// clusterRole returns the name of the ClusterRole of the release. No other release has it: services
// of one name are in different namespaces.
func (r release) clusterRole() string { return r.service + ":" + r.namespace }

// owns returns an error if a configuration belongs to another release, or to nobody. It belongs to
// the release whose ClusterRole is among its owner references. If such a reference has only the
// service's name, which the ClusterRole had in earlier builds, or if the references were removed by
// hand, the owner annotation must name the release.
func (r release) owns(o metav1.Object) error {
	annotation := o.GetAnnotations()[ownerAnnotation]
	want, owner := r.String(), annotation
	for _, reference := range o.GetOwnerReferences() {
		if reference.Kind == "ClusterRole" {
			if reference.Name == r.clusterRole() || reference.Name == r.service && annotation == r.String() {
				return nil
			}
			want, owner = r.clusterRole(), reference.Name
		}
	}
	if owner == want {
		return nil
	}
	return fmt.Errorf("%s %q belongs to %q, not to %q: a cluster can have one polyfill only; uninstall one, or delete the object if its owner is gone",
		kindOf(o), Name, owner, want)
}

// isCalledBy reports whether a webhook calls the service of the release.
func (r release) isCalledBy(webhook admissionregistrationv1.WebhookClientConfig) bool {
	return webhook.Service != nil && webhook.Service.Namespace == r.namespace && webhook.Service.Name == r.service
}

// clientConfigs returns how API servers call the webhooks of a configuration.
func clientConfigs(o metav1.Object) (configs []admissionregistrationv1.WebhookClientConfig) {
	switch o := o.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for _, w := range o.Webhooks {
			configs = append(configs, w.ClientConfig)
		}
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		for _, w := range o.Webhooks {
			configs = append(configs, w.ClientConfig)
		}
	}
	return configs
}

func kindOf(o metav1.Object) string {
	if _, ok := o.(*admissionregistrationv1.MutatingWebhookConfiguration); ok {
		return "MutatingWebhookConfiguration"
	}
	return "ValidatingWebhookConfiguration"
}

// adopt makes the configuration one of the release, and lets the garbage collector delete it with
// the ClusterRole.
func (r release) adopt(o metav1.Object, role *rbacv1.ClusterRole) {
	annotate(o, ownerAnnotation, r.String())
	delete(o.GetAnnotations(), uninstalledAnnotation)
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole", Name: role.Name, UID: role.UID}})
}

func annotate(o metav1.Object, key, value string) {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}

// configuration is one of the two types of webhook configurations.
type configuration[O any] interface {
	metav1.Object
	DeepCopy() O
}

// client is the part of a generated client that the package uses.
type client[O any] interface {
	Get(context.Context, string, metav1.GetOptions) (O, error)
	Create(context.Context, O, metav1.CreateOptions) (O, error)
	Update(context.Context, O, metav1.UpdateOptions) (O, error)
}

// reconcile creates a configuration of the release. If there is one, reconcile updates it, unless
// it belongs to the release already and edit changes nothing. get returns the stored configuration,
// and empty is used for a new one. It is an error if the release was uninstalled.
func reconcile[O configuration[O]](ctx context.Context, r release, role *rbacv1.ClusterRole, get func(string) (O, error), empty O, c client[O], edit func(O)) error {
	existing, err := get(Name)
	switch {
	case apierrors.IsNotFound(err):
		empty.SetName(Name)
		r.adopt(empty, role)
		edit(empty)
		_, err := c.Create(ctx, empty, metav1.CreateOptions{FieldManager: fieldManager})
		return written(ctx, empty, err)
	case err != nil:
		return err
	}
	if existing.GetAnnotations()[uninstalledAnnotation] == string(role.UID) {
		return fmt.Errorf("%s %q has no webhooks, because the release was uninstalled: remove the annotation %s if it is to stay", kindOf(existing), Name, uninstalledAnnotation)
	}
	updated := existing.DeepCopy()
	r.adopt(updated, role)
	edit(updated)
	if equality.Semantic.DeepEqual(existing, updated) {
		return nil
	}
	_, err = c.Update(ctx, updated, metav1.UpdateOptions{FieldManager: fieldManager})
	return written(ctx, updated, err)
}

func written(ctx context.Context, o metav1.Object, err error) error {
	if err != nil {
		return fmt.Errorf("writing %s %q: %w", kindOf(o), Name, err)
	}
	configurationWrites.WithContext(ctx).WithLabelValues(kindOf(o)).Inc()
	return nil
}

// Uninstall removes all webhooks of a release. The controller of the release writes none any more,
// although replicas may still run. Uninstall does nothing to configurations of other releases.
func Uninstall(ctx context.Context, c kubernetes.Interface, namespace, service string) error {
	r := release{namespace, service}
	role, err := c.RbacV1().ClusterRoles().Get(ctx, r.clusterRole(), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading ClusterRole %q: %w", r.clusterRole(), err)
	}
	configurations := c.AdmissionregistrationV1()
	if err := uninstall(ctx, r, role, configurations.ValidatingWebhookConfigurations(), func(o *admissionregistrationv1.ValidatingWebhookConfiguration) { o.Webhooks = nil }); err != nil {
		return err
	}
	return uninstall(ctx, r, role, configurations.MutatingWebhookConfigurations(), func(o *admissionregistrationv1.MutatingWebhookConfiguration) { o.Webhooks = nil })
}

func uninstall[O configuration[O]](ctx context.Context, r release, role *rbacv1.ClusterRole, c client[O], clear func(O)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		o, err := c.Get(ctx, Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && r.owns(o) != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s %q: %w", kindOf(o), Name, err)
		}
		clear(o)
		annotate(o, uninstalledAnnotation, string(role.UID))
		_, err = c.Update(ctx, o, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	})
}
