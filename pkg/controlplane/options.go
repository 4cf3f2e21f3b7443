// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apiserver/pkg/admission"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"celador.io/celador/pkg/apis/admissionregistration"
	kubeoptions "celador.io/celador/pkg/kubeapiserver/options"
)

const (
	stalenessFlag = "max-policy-staleness"
	// defaultStaleness is the value of the flag if it is given without one.
	defaultStaleness = 5 * time.Second
	// minStaleness leaves time for a garbage collection, and for several requests to etcd.
	minStaleness = time.Second
)

// Options are upstream's options and Celador's.
type Options struct {
	*options.ServerRunOptions
	ExtraOptions
}

// ExtraOptions are options that upstream's server does not have. The zero value is the default.
type ExtraOptions struct {
	// MaxPolicyStaleness is the time by which the policies and bindings that the server knows may
	// be older than those in etcd. While they may be older than that, the server rejects requests
	// that a policy with failurePolicy Fail may match. 0 is no limit.
	MaxPolicyStaleness time.Duration
}

// CompletedOptions are options with defaults applied, as Options.Complete returns them. A program
// that completes upstream's options itself may construct CompletedOptions of the result.
type CompletedOptions struct {
	options.CompletedOptions
	ExtraOptions
}

// NewOptions returns upstream's options with upstream's defaults and Celador's admission plugins.
func NewOptions() *Options {
	s := options.NewServerRunOptions()
	s.Admission.GenericAdmission.Plugins = kubeoptions.NewPlugins(s.Admission.GenericAdmission.Plugins, admission.PluginInitializers{})
	return &Options{ServerRunOptions: s}
}

// Flags returns upstream's flags in upstream's sections, and Celador's among those of admission.
func (o *Options) Flags() cliflag.NamedFlagSets {
	sections := o.ServerRunOptions.Flags()
	flags := sections.FlagSet("admission")
	flags.DurationVar(&o.MaxPolicyStaleness, stalenessFlag, o.MaxPolicyStaleness,
		"Reject requests that an admission policy with failurePolicy Fail may match while the policies and bindings that the server knows "+
			"may be older than this, because it has not heard from etcd. 0 is no limit. Needs the watch cache.")
	flags.Lookup(stalenessFlag).NoOptDefVal = defaultStaleness.String()
	return sections
}

// Complete applies defaults. It returns upstream's errors, for example if the machine lacks what a
// default needs.
func (o *Options) Complete(ctx context.Context) (CompletedOptions, error) {
	completed, err := o.ServerRunOptions.Complete(ctx)
	return CompletedOptions{completed, o.ExtraOptions}, err
}

// Validate returns the errors of all options.
func (o CompletedOptions) Validate() []error {
	errs := o.CompletedOptions.Validate()
	switch {
	case o.MaxPolicyStaleness == 0:
	case o.MaxPolicyStaleness < minStaleness:
		errs = append(errs, fmt.Errorf("--%s must be 0 or at least %v, not %v", stalenessFlag, minStaleness, o.MaxPolicyStaleness))
	case !o.Etcd.EnableWatchCache:
		errs = append(errs, errors.New("--"+stalenessFlag+" needs --watch-cache, whose progress it measures"))
	default:
		for _, size := range o.Etcd.WatchCacheSizes {
			if resource, ok := strings.CutSuffix(size, "#0"); ok && strings.HasSuffix(resource, "."+admissionregistration.GroupName) {
				errs = append(errs, fmt.Errorf("--%s needs the watch cache that --watch-cache-sizes=%s disables", stalenessFlag, size))
			}
		}
	}
	return errs
}

// useOwnPlugins replaces the plugins in opts by Celador's, so that upstream's code creates these.
// restore puts the caller's plugins back, because opts belongs to the caller. initialize
// initializes each plugin when it is created.
func useOwnPlugins(opts options.CompletedOptions, initialize admission.PluginInitializer) (restore func()) {
	if opts.Admission == nil || opts.Admission.GenericAdmission == nil {
		return func() {} // a server without admission
	}
	generic := opts.Admission.GenericAdmission
	original := generic.Plugins
	generic.Plugins = kubeoptions.NewPlugins(original, initialize)
	return func() { generic.Plugins = original }
}
