// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package app is the polyfill as a command: it joins clients, informers, plugins, servers and
// controllers.
package app

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/admission/review"

	"celador.io/polyfill/pkg/certificates"
)

// Options are the flags of celador-webhook.
type Options struct {
	// Kubeconfig is the path of a kubeconfig. Without one, the configuration is that of a Pod.
	Kubeconfig string
	// Namespace and ServiceName name the Service at which API servers reach the polyfill.
	Namespace, ServiceName string
	ServicePort            int32
	// BindAddress is the address at which reviews are answered, with SecurePort.
	BindAddress string
	SecurePort  int
	// HealthBindAddress is the address, with a port, of health checks and metrics.
	HealthBindAddress string
	// CertDir is the directory with the certificates of another issuer, such as cert-manager. If it
	// is empty, the polyfill makes its certificates itself, and Certificates says how long they are
	// valid.
	CertDir      string
	Certificates certificates.Options
	// ClientCAFile is the path of a file with certificate authorities. Callers must have a
	// certificate of one of them. Without it, everybody may call.
	ClientCAFile string
	// MaxRequestsInFlight is the maximum number of reviews that are answered at a time, and
	// MaxBytesInFlight the maximum sum of their sizes. Zero is no limit.
	MaxRequestsInFlight, MaxBytesInFlight int64
	// WebhookTimeout is the time that API servers wait for an answer, in whole seconds.
	WebhookTimeout time.Duration
	// ShutdownDelay is the time between the first failing readiness check and the end of answers.
	ShutdownDelay time.Duration
	// LeaseDuration, RenewDeadline and RetryPeriod are the times of the election of a leader.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// QPS and Burst limit the requests to the API server.
	QPS   float32
	Burst int
}

// podNamespaceFile holds the namespace of the Pod that reads it.
const podNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// NewOptions returns the defaults.
func NewOptions() *Options {
	o := &Options{
		Namespace: os.Getenv("POD_NAMESPACE"), ServiceName: "celador-webhook", ServicePort: 443,
		BindAddress: "0.0.0.0", SecurePort: 9443, HealthBindAddress: ":8080",
		MaxRequestsInFlight: 400, MaxBytesInFlight: 16 << 20,
		WebhookTimeout: 10 * time.Second, ShutdownDelay: 15 * time.Second,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		QPS: 50, Burst: 100, Certificates: certificates.NewOptions("", ""),
	}
	if namespace, err := os.ReadFile(podNamespaceFile); err == nil && o.Namespace == "" {
		o.Namespace = strings.TrimSpace(string(namespace))
	}
	return o
}

// addConnectionFlags adds the flags that say which cluster and which release are meant.
func (o *Options) addConnectionFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "path of a kubeconfig; without one, the cluster is that of the Pod")
	flags.StringVar(&o.Namespace, "namespace", o.Namespace, "namespace of the Service, by default the Pod's")
	flags.StringVar(&o.ServiceName, "service-name", o.ServiceName, "name of the Service at which API servers reach the webhook")
	flags.Float32Var(&o.QPS, "kube-api-qps", o.QPS, "requests to the API server per second")
	flags.IntVar(&o.Burst, "kube-api-burst", o.Burst, "requests to the API server that may exceed the rate for a moment")
}

// AddFlags adds all flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.addConnectionFlags(flags)
	flags.Int32Var(&o.ServicePort, "service-port", o.ServicePort, "port of the Service")
	flags.StringVar(&o.BindAddress, "bind-address", o.BindAddress, "IP address at which reviews are answered")
	flags.IntVar(&o.SecurePort, "secure-port", o.SecurePort, "port at which reviews are answered")
	flags.StringVar(&o.HealthBindAddress, "health-bind-address", o.HealthBindAddress, "address of /livez, /readyz and /metrics, without TLS")
	flags.StringVar(&o.CertDir, "cert-dir", o.CertDir, "directory with tls.crt, tls.key and ca.crt, which may change; without one, the webhook makes and rotates its certificates")
	flags.DurationVar(&o.Certificates.AuthorityLifetime, "certificate-authority-lifetime", o.Certificates.AuthorityLifetime, "how long the certificate authority of the webhook is valid, without --cert-dir")
	flags.DurationVar(&o.Certificates.ServingLifetime, "certificate-lifetime", o.Certificates.ServingLifetime, "how long a serving certificate is valid, without --cert-dir; after two thirds of that it is renewed")
	flags.DurationVar(&o.Certificates.Propagation, "certificate-propagation", o.Certificates.Propagation, "how long API servers may take to see a changed webhook configuration, without --cert-dir")
	flags.StringVar(&o.ClientCAFile, "client-ca-file", o.ClientCAFile, "file with the authorities of the client certificates of API servers, which may change; without it, reviews of everybody are answered")
	flags.Int64Var(&o.MaxRequestsInFlight, "max-requests-inflight", o.MaxRequestsInFlight, "how many reviews are answered at a time; others are answered with status 429. Zero is no limit")
	flags.Int64Var(&o.MaxBytesInFlight, "max-bytes-inflight", o.MaxBytesInFlight, "how many bytes the reviews have that are answered at a time; others are answered with status 429. Zero is no limit")
	flags.DurationVar(&o.WebhookTimeout, "webhook-timeout", o.WebhookTimeout, "how long API servers wait for an answer: 1s to 30s")
	flags.DurationVar(&o.ShutdownDelay, "shutdown-delay-duration", o.ShutdownDelay, "how long reviews are answered after the signal to end, until no API server sends more")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration, "how long other replicas wait for a leader that is silent")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline, "how long a leader tries to renew its lease before it stops to lead")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod, "time between two attempts to become or stay leader")
	utilfeature.DefaultMutableFeatureGate.AddFlag(flags)
}

// Validate returns an error that names all flags with wrong values.
func (o *Options) Validate() error {
	var errs []error
	require := func(holds bool, format string, args ...any) {
		if !holds {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	require(o.Namespace != "", "--namespace is required outside of a Pod")
	require(o.ServiceName != "", "--service-name must not be empty")
	require(o.SecurePort > 0 && o.SecurePort < 1<<16, "--secure-port %d is no port", o.SecurePort)
	require(o.ServicePort > 0 && o.ServicePort < 1<<16, "--service-port %d is no port", o.ServicePort)
	require(o.MaxRequestsInFlight >= 0, "--max-requests-inflight %d must not be negative", o.MaxRequestsInFlight)
	require(o.MaxBytesInFlight == 0 || o.MaxBytesInFlight >= review.MaxBytes, "--max-bytes-inflight %d must be 0, or at least %d, which one review may have", o.MaxBytesInFlight, review.MaxBytes)
	require(o.WebhookTimeout >= time.Second && o.WebhookTimeout <= 30*time.Second && o.WebhookTimeout%time.Second == 0,
		"--webhook-timeout %v must be whole seconds from 1s to 30s", o.WebhookTimeout)
	require(o.ShutdownDelay >= 0, "--shutdown-delay-duration %v must not be negative", o.ShutdownDelay)
	require(o.LeaseDuration > o.RenewDeadline, "--leader-elect-lease-duration %v must be greater than --leader-elect-renew-deadline %v", o.LeaseDuration, o.RenewDeadline)
	require(o.RetryPeriod > 0 && o.RenewDeadline > 2*o.RetryPeriod, "--leader-elect-renew-deadline %v must be greater than twice --leader-elect-retry-period %v", o.RenewDeadline, o.RetryPeriod)
	return errors.Join(errs...)
}
