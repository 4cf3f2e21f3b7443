// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"

	"celador.io/celador/pkg/controlplane"
)

const (
	serviceAccountIssuer = "https://kubernetes.default.svc.cluster.local"
	serviceClusterIPs    = "10.0.0.0/24"
)

var loopback = net.IPv4(127, 0, 0, 1)

// An apiServer is a kube-apiserver with its options, before it runs.
type apiServer struct {
	*controlplane.Options
	gate  featuregate.FeatureGate
	flags cliflag.NamedFlagSets
}

// newAPIServer returns a kube-apiserver with the defaults of a local server. They are set in the
// options instead of passed as arguments: a list flag of the user then replaces a default, where a
// second argument would add to it.
func newAPIServer(dir dataDir, port int) (*apiServer, error) {
	registry, err := newRegistry()
	if err != nil {
		return nil, err
	}
	s := controlplane.NewOptions()
	s.GenericServerRunOptions.ComponentGlobalsRegistry = registry

	s.SecureServing.BindAddress = loopback
	s.SecureServing.BindPort = port
	// The server would publish its address in an Endpoints object, which must not contain a
	// loopback address. It has no other address, so it publishes none.
	s.GenericServerRunOptions.AdvertiseAddress = loopback
	s.EndpointReconcilerType = "none"
	s.ServiceClusterIPRanges = serviceClusterIPs
	// Without this, a server that stops waits for idle connections for the whole request timeout.
	s.GenericServerRunOptions.ShutdownSendRetryAfter = true

	files := pki{dir.pki()}
	s.SecureServing.ServerCert.CertKey.CertFile = files.serving().cert
	s.SecureServing.ServerCert.CertKey.KeyFile = files.serving().key
	s.Authentication.ClientCert.ClientCA = files.ca().cert
	s.ProxyClientCertFile, s.ProxyClientKeyFile = files.proxyClient().cert, files.proxyClient().key
	s.Authentication.RequestHeader = &genericoptions.RequestHeaderAuthenticationOptions{
		ClientCAFile:        files.proxyCA().cert,
		AllowedNames:        []string{proxyClientName},
		UsernameHeaders:     []string{"X-Remote-User"},
		GroupHeaders:        []string{"X-Remote-Group"},
		ExtraHeaderPrefixes: []string{"X-Remote-Extra-"},
	}
	s.Authentication.ServiceAccounts.Issuers = []string{serviceAccountIssuer}
	s.Authentication.ServiceAccounts.KeyFiles = []string{files.serviceAccountKey()}
	s.ServiceAccountSigningKeyFile = files.serviceAccountKey()
	s.Authorization.Modes = []string{"Node", "RBAC"}
	s.AllowPrivileged = true

	return &apiServer{
		Options: s,
		gate:    registry.FeatureGateFor(basecompatibility.DefaultKubeComponent),
		flags:   s.Flags(),
	}, nil
}

// parse applies args, in kube-apiserver's syntax, to the options.
func (a *apiServer) parse(args []string) error {
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	flags.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	for _, set := range a.flags.FlagSets {
		flags.AddFlagSet(set)
	}
	err := flags.Parse(args)
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("%q is not a flag", flags.Arg(0))
	case flags.Changed("etcd-servers"):
		err = errors.New("--etcd-servers cannot be set: the server has its own etcd")
	default:
		err = a.GenericServerRunOptions.ComponentGlobalsRegistry.Set()
	}
	if err != nil {
		return fmt.Errorf("kube-apiserver arguments: %w", err)
	}
	return nil
}

// applyLogging configures the logging of the process if an argument contains a logging flag.
func (a *apiServer) applyLogging() error {
	asked := false
	a.flags.FlagSet("logs").VisitAll(func(flag *pflag.Flag) { asked = asked || flag.Changed })
	if !asked {
		return nil
	}
	return logsapi.ValidateAndApply(a.Logs, a.gate)
}

// servingIPs returns the IP addresses for the serving certificate.
func (a *apiServer) servingIPs() []net.IP {
	ips := []net.IP{loopback, net.IPv6loopback}
	for _, ip := range []net.IP{a.SecureServing.BindAddress, a.GenericServerRunOptions.AdvertiseAddress} {
		if !ip.IsUnspecified() && !ip.IsLoopback() {
			ips = append(ips, ip)
		}
	}
	return ips
}

// listen opens the port before other parts start. It returns the URL for clients on this machine.
func (a *apiServer) listen() (url string, err error) {
	address := net.JoinHostPort(a.SecureServing.BindAddress.String(), strconv.Itoa(a.SecureServing.BindPort))
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return "", fmt.Errorf("port %d of %s is taken: stop what listens there or choose another port, 0 for a free one",
			a.SecureServing.BindPort, a.SecureServing.BindAddress)
	}
	if err != nil {
		var inNet *net.OpError
		if errors.As(err, &inNet) {
			err = inNet.Err
		}
		return "", fmt.Errorf("cannot listen on %s: %w: choose another address or port", address, err)
	}
	a.SecureServing.Listener = listener
	a.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port

	host := a.SecureServing.BindAddress
	if host.IsUnspecified() {
		host = loopback
	}
	return "https://" + net.JoinHostPort(host.String(), strconv.Itoa(a.SecureServing.BindPort)), nil
}

// complete completes and validates the options, with etcd at the given socket. It must be called
// after listen.
func (a *apiServer) complete(ctx context.Context, socket string) (controlplane.CompletedOptions, error) {
	a.Etcd.StorageConfig.Transport.ServerList = []string{"unix://" + socket}
	completed, err := a.Complete(ctx)
	if err == nil {
		err = utilerrors.NewAggregate(completed.Validate())
	}
	if err != nil {
		return controlplane.CompletedOptions{}, fmt.Errorf("kube-apiserver arguments: %s", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return completed, nil
}

// run serves until ctx ends.
func run(ctx context.Context, completed controlplane.CompletedOptions) error {
	if err := controlplane.Run(ctx, completed); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	return nil
}
