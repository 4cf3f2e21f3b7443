// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registration keeps the webhook configurations of the polyfill up to date with the
// policies, and corrects what others change in them.
package registration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/informers"
	informersv1 "k8s.io/client-go/informers/admissionregistration/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	policyinformers "celador.io/client-go/informers"
	policyinformersv1 "celador.io/client-go/informers/admissionregistration/v1"

	"celador.io/polyfill/pkg/routing"
)

const (
	// batchDelay is the time between a change and the write, during which further changes are
	// collected.
	batchDelay = 200 * time.Millisecond
	// minRetry and maxRetry are the first and the longest delay after an error. The delay doubles with
	// each attempt.
	minRetry = 100 * time.Millisecond
	maxRetry = 30 * time.Second
)

// A CABundle provides the certificates with which API servers verify the webhook. Implementations
// are safe for concurrent use.
type CABundle interface {
	// CABundle returns PEM certificates, or nothing while there are none.
	CABundle() []byte
	// AddListener adds a listener that is called after each change.
	AddListener(dynamiccertificates.Listener)
}

// Config holds the dependencies of a Controller, all of them safe for concurrent use.
type Config struct {
	// Client reads the ClusterRole of the release and writes the configurations.
	Client kubernetes.Interface
	// Policies are the informers of the polyfill's policies and bindings.
	Policies policyinformers.SharedInformerFactory
	// Configurations are informers that NewInformers returned.
	Configurations informers.SharedInformerFactory
	// Webhooks are the options of all webhooks. The controller sets their CABundle.
	Webhooks routing.Options
	CABundle CABundle
}

// NewInformers returns informers that read no other webhook configurations than the polyfill's.
func NewInformers(c kubernetes.Interface) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, Name).String()
	}))
}

// A Controller writes the webhook configurations while it runs, which it does in one replica.
type Controller struct {
	client                               kubernetes.Interface
	release                              release
	options                              routing.Options
	bundle                               CABundle
	bundles                              *bundles
	policies                             policyinformersv1.Interface
	configurations                       informersv1.Interface
	policiesSynced, configurationsSynced []cache.InformerSynced
	// queue is nil unless the controller runs. It has at most one item.
	queue atomic.Pointer[workqueue.TypedRateLimitingInterface[struct{}]]
}

// New returns a controller that is idle until Run. The caller starts the informers and the source
// of the CA bundle after New. New fails if an informer has already stopped.
func New(c Config) (*Controller, error) {
	controller := &Controller{
		client: c.Client, release: release{c.Webhooks.Namespace, c.Webhooks.Service}, options: c.Webhooks, bundle: c.CABundle,
		policies: c.Policies.Admissionregistration().V1(), configurations: c.Configurations.Admissionregistration().V1(),
	}
	controller.bundles = &bundles{release: controller.release, known: map[string]registeredBundle{}}
	enqueue := func(any) { controller.Enqueue() }
	handler := cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(any, any) { controller.Enqueue() }, DeleteFunc: enqueue}
	watch := func(synced *[]cache.InformerSynced, handler cache.ResourceEventHandler, informers ...cache.SharedIndexInformer) error {
		for _, i := range informers {
			registration, err := i.AddEventHandler(handler)
			if err != nil {
				return err
			}
			*synced = append(*synced, registration.HasSynced)
		}
		return nil
	}
	p, w := controller.policies, controller.configurations
	validating, mutating := w.ValidatingWebhookConfigurations().Informer(), w.MutatingWebhookConfigurations().Informer()
	err := errors.Join(
		watch(&controller.policiesSynced, handler, p.ValidatingAdmissionPolicies().Informer(), p.ValidatingAdmissionPolicyBindings().Informer(),
			p.MutatingAdmissionPolicies().Informer(), p.MutatingAdmissionPolicyBindings().Informer()),
		watch(&controller.configurationsSynced, handler, validating, mutating),
		watch(&controller.configurationsSynced, controller.bundles.follow("ValidatingWebhookConfiguration"), validating),
		watch(&controller.configurationsSynced, controller.bundles.follow("MutatingWebhookConfiguration"), mutating))
	if err != nil {
		return nil, err
	}
	c.CABundle.AddListener(controller)
	return controller, nil
}

// Enqueue implements dynamiccertificates.Listener: it makes the controller compare the
// configurations with the policies soon, if it runs.
func (c *Controller) Enqueue() {
	if queue := c.queue.Load(); queue != nil {
		(*queue).AddAfter(struct{}{}, batchDelay)
	}
}

// Run writes the configurations until ctx ends. It may be called again after it has returned.
func (c *Controller) Run(ctx context.Context) {
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[struct{}](minRetry, maxRetry),
		workqueue.TypedRateLimitingQueueConfig[struct{}]{Name: "webhook_configuration"})
	c.queue.Store(&queue)
	defer c.queue.Store(nil)
	stop := context.AfterFunc(ctx, queue.ShutDown)
	defer stop()
	if !cache.WaitForNamedCacheSyncWithContext(ctx, slices.Concat(c.policiesSynced, c.configurationsSynced)...) {
		return
	}
	queue.Add(struct{}{})
	for {
		item, shutdown := queue.Get()
		if shutdown {
			return
		}
		switch err := c.sync(ctx); {
		case err == nil:
			queue.Forget(item)
		case ctx.Err() != nil:
		// The informers have not seen the latest configuration yet.
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
			queue.AddRateLimited(item)
		default:
			configurationSyncErrors.WithContext(ctx).Inc()
			klog.FromContext(ctx).Error(err, "The webhook configurations cannot be brought up to date, trying again")
			queue.AddRateLimited(item)
		}
		queue.Done(item)
	}
}

// sync writes the configurations that differ from what the policies require. It writes none, and
// returns an error, while one belongs to another release, because a cluster has only one polyfill.
func (c *Controller) sync(ctx context.Context) error {
	options := c.options
	if options.CABundle = c.bundle.CABundle(); len(options.CABundle) == 0 {
		return nil // the listener is called when there is one
	}
	if err := c.Check(); err != nil {
		return err
	}
	role, err := c.client.RbacV1().ClusterRoles().Get(ctx, c.release.clusterRole(), metav1.GetOptions{})
	if err != nil {
		// Without it, nothing would remove the webhooks after the release, and all writes would fail.
		return fmt.Errorf("reading the ClusterRole that owns the webhook configurations: %w", err)
	}
	if role.DeletionTimestamp != nil {
		return nil
	}
	objects, err := c.objects()
	if err != nil {
		return err
	}
	validating, mutating, members := routing.Webhooks(objects, options)
	stored, client := c.configurations, c.client.AdmissionregistrationV1()
	_, missing := stored.MutatingWebhookConfigurations().Lister().Get(Name)
	err = reconcile(ctx, c.release, role, stored.ValidatingWebhookConfigurations().Lister().Get, &admissionregistrationv1.ValidatingWebhookConfiguration{},
		client.ValidatingWebhookConfigurations(), func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			o.Webhooks = validating
			annotate(o, routesAnnotation, members[routing.Validating].String())
		})
	if err != nil && missing != nil {
		// If the polyfill is being installed twice at the same time, the installation that creates
		// the validating configuration stays. The other must not create the mutating one, or each
		// would wait for the other to give up its configuration.
		return err
	}
	// An update of one configuration must not wait for the other.
	return errors.Join(err,
		reconcile(ctx, c.release, role, stored.MutatingWebhookConfigurations().Lister().Get, &admissionregistrationv1.MutatingWebhookConfiguration{},
			client.MutatingWebhookConfigurations(), func(o *admissionregistrationv1.MutatingWebhookConfiguration) {
				o.Webhooks = mutating
				annotate(o, routesAnnotation, members[routing.Mutating].String())
			}))
}

func (c *Controller) objects() (o routing.Inventory, err error) {
	if o.Validating, err = c.policies.ValidatingAdmissionPolicies().Lister().List(labels.Everything()); err != nil {
		return o, err
	}
	if o.ValidatingBindings, err = c.policies.ValidatingAdmissionPolicyBindings().Lister().List(labels.Everything()); err != nil {
		return o, err
	}
	if o.Mutating, err = c.policies.MutatingAdmissionPolicies().Lister().List(labels.Everything()); err != nil {
		return o, err
	}
	o.MutatingBindings, err = c.policies.MutatingAdmissionPolicyBindings().Lister().List(labels.Everything())
	return o, err
}

// Check returns an error if a webhook configuration belongs to somebody else, or if that is not
// known yet. The controller need not run.
func (c *Controller) Check() error {
	if err := c.read(); err != nil {
		return err
	}
	foreign := func(o metav1.Object, err error) error {
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		default:
			return c.release.owns(o)
		}
	}
	return errors.Join(foreign(c.configurations.ValidatingWebhookConfigurations().Lister().Get(Name)), foreign(c.configurations.MutatingWebhookConfigurations().Lister().Get(Name)))
}

// CABundleSince returns since when this process has known that all webhooks of the release have the
// CA bundle, and the zero time if there are none. It returns an error if one has another bundle, or
// if that is not known yet. The controller need not run.
func (c *Controller) CABundleSince(bundle []byte) (time.Time, error) {
	if err := c.read(); err != nil {
		return time.Time{}, err
	}
	return c.bundles.since(bundle)
}

// read returns an error until the webhook configurations have been read.
func (c *Controller) read() error {
	for _, synced := range c.configurationsSynced {
		if !synced() {
			return errors.New("the webhook configurations have not been read yet")
		}
	}
	return nil
}
