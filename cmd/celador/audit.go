// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"celador.io/offline/audit"
	"celador.io/offline/live"
	"celador.io/offline/manifest"
	"celador.io/offline/report"
)

// auditOptions are the flags of celador audit.
type auditOptions struct {
	output, selector string
	// files are the paths given with --filename: files with policies and what policies read.
	// manifests are the arguments: files with the objects to audit. Without files, the policies are
	// those in manifests. Without manifests, the objects are those of the cluster. Without both,
	// policies and objects are those of the cluster.
	files, manifests []string
	// clusterPolicies adds the policies of the cluster to those of files.
	clusterPolicies bool
	policies        []string
	sinceBinding    bool
	maxFindings     int
	// apply writes the reports to the cluster.
	apply bool
	// config holds kubectl's flags --kubeconfig, --context and --namespace.
	config *genericclioptions.ConfigFlags
}

func newAuditCommand() *cobra.Command {
	// AddFlags adds only the flags whose fields are not nil.
	options := auditOptions{config: &genericclioptions.ConfigFlags{KubeConfig: new(string), Context: new(string), Namespace: new(string)}}
	command := &cobra.Command{
		Use:   "audit [FILE|DIR ...]",
		Short: "Find the objects that validating policies would deny",
		Long: `Evaluate validating policies over the objects in files and directories, or else over those of the cluster of the current kubeconfig context. The
policies are those in the files of --filename, or else those of the cluster, or of the objects' files. Objects are presented as created. The file -
is standard input. Without a kubeconfig, the cluster is the one of celador serve.

The exit code is 0 if all objects satisfy the policies, 1 if one does not or cannot be evaluated, and 2 if the input is not usable.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			options.manifests = args
			// Decoders log why they refuse an object. The report says so, too.
			discardLogs()
			return options.audit(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return unusable("%w", err) })
	flags := command.Flags()
	flags.StringVarP(&options.output, "output", "o", "table", "format of the results: "+report.Audits.String())
	flags.StringSliceVarP(&options.files, "filename", "f", nil, "files and directories with policies, bindings, params and other objects that policies read")
	flags.BoolVar(&options.clusterPolicies, "cluster-policies", false, "also evaluate the policies of the cluster, with --filename or files of objects")
	flags.StringSliceVar(&options.policies, "policy", nil, "evaluate only the policies with these names")
	flags.StringVarP(&options.selector, "selector", "l", "", "label selector of the objects")
	flags.BoolVar(&options.sinceBinding, "since-binding", false, "only objects that were written since the binding of the policy was created")
	flags.IntVar(&options.maxFindings, "max-findings", 1000, "findings to list for each policy and binding; 0 lists all")
	flags.BoolVar(&options.apply, "apply", false, "write the reports to the cluster, with -o openreports or wgpolicy, and delete older ones")
	options.config.AddFlags(flags)
	return command
}

// audit writes the report of an audit to w, and the progress to stderr. The path - stands for
// stdin.
func (o *auditOptions) audit(ctx context.Context, stdin io.Reader, w, stderr io.Writer) error {
	write := report.Audits[o.output]
	if write == nil {
		return unusable("-o %s is not a format: want %s", o.output, report.Audits)
	}
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return unusable("--selector %s is not a label selector: %w", o.selector, err)
	}
	if o.maxFindings < 0 {
		return unusable("--max-findings %d: want 0 or more", o.maxFindings)
	}
	if o.apply && report.ReportsAPIs[o.output] == nil {
		return unusable("--apply needs -o openreports or -o wgpolicy, not -o %s", o.output)
	}
	s := auditSources{options: o, stdin: readAll(stdin)}
	result, auditor, err := o.evaluate(ctx, &s, selector, stderr)
	var failed exitError
	if errors.As(err, &failed) {
		// Without a result, the report has the errors alone.
		if !o.apply {
			refused := &audit.Report{}
			for _, err := range append(manifest.Errors(failed.error), s.broken...) {
				var located *manifest.Error
				if !errors.As(err, &located) {
					err = errors.New(strings.TrimPrefix(err.Error(), programPrefix))
				}
				refused.Unread = append(refused.Unread, err)
			}
			if err := write(w, refused); err != nil {
				return unusable("%w", err)
			}
		}
		return exitError{errors.Join(append([]error{failed.error}, s.broken...)...), failed.code}
	}
	if o.apply {
		err = o.replaceReports(ctx, w, s.cluster, result)
	} else {
		err = write(w, result)
	}
	if err != nil {
		return unusable("%w", err)
	}
	if len(s.broken) > 0 {
		return exitError{errors.Join(s.broken...), exitUnusable}
	}
	if !slices.ContainsFunc(result.Policies, func(p audit.PolicyResult) bool { return p.NotAuditable == "" }) {
		return unusable("no policy was evaluated: the results say why")
	}
	if result.Objects == 0 && result.Errors() == 0 {
		if err := s.nothingMatches(auditor); err != nil {
			return err
		}
	}
	if result.Violations()+result.Errors() > 0 {
		return exitError{nil, exitFailed}
	}
	return nil
}

// evaluate audits the objects of s. It returns the report, and the auditor, which knows the
// policies that were evaluated. It sets s.cluster if policies or objects come from a cluster, or if
// reports are written to one. Its errors carry the exit code of the command.
func (o *auditOptions) evaluate(ctx context.Context, s *auditSources, selector labels.Selector, stderr io.Writer) (*audit.Report, *audit.Auditor, error) {
	if o.readsCluster() || o.apply {
		config, err := restConfig(o.config)
		if err != nil {
			return nil, nil, err
		}
		if s.cluster, err = live.New(config); err != nil {
			return nil, nil, unusable("%w", err)
		}
	}
	auditor, err := s.auditor(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := o.checkPolicies(auditor); err != nil {
		return nil, nil, err
	}
	line := progressOn(stderr)
	total := 0
	if line != nil && len(o.manifests) == 0 {
		total = s.cluster.Count(ctx, s.selection(auditor))
	}
	result, err := auditor.Audit(ctx, s.objects(ctx, auditor, selector), func(read int) { line.count(read, total, "objects") })
	line.clear()
	if err != nil {
		return nil, nil, unusable("%w", err)
	}
	return result, auditor, nil
}

// readsCluster reports whether policies or objects come from a cluster.
func (o *auditOptions) readsCluster() bool { return o.clusterPolicies || len(o.manifests) == 0 }

// replaceReports writes the reports to the cluster, and prints what was done as kubectl does.
func (o *auditOptions) replaceReports(ctx context.Context, w io.Writer, cluster *live.Client, result *audit.Report) error {
	api := report.ReportsAPIs[o.output]
	reports, err := api.Objects(result, time.Now())
	if err != nil {
		return err
	}
	if *o.config.Namespace != "" {
		// An audit of one namespace knows nothing about cluster-scoped objects, so it writes no
		// report about them.
		reports = slices.DeleteFunc(reports, func(r *unstructured.Unstructured) bool { return r.GetNamespace() == "" })
	}
	replacement := live.Replacement{
		Manager: "celador-audit", Kinds: api.Kinds(), Labels: report.ReportLabels, Namespace: *o.config.Namespace,
	}
	return cluster.Replace(ctx, replacement, reports, func(object *unstructured.Unstructured, what string) {
		if object.GetNamespace() != "" {
			what += " in namespace " + object.GetNamespace()
		}
		fmt.Fprintln(w, report.ObjectName(object.GroupVersionKind().GroupKind(), object.GetName()), what)
	})
}

// checkPolicies returns an error if there is no policy to evaluate.
func (o *auditOptions) checkPolicies(auditor *audit.Auditor) error {
	var errs []error
	found := auditor.Policies()
	for _, name := range o.policies {
		if !slices.ContainsFunc(found, func(p audit.PolicyResult) bool { return p.Name == name }) {
			errs = append(errs, fmt.Errorf("--policy %s: there is no such ValidatingAdmissionPolicy", name))
		}
	}
	if len(found) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("there is no ValidatingAdmissionPolicy to evaluate: name files with policies with --filename"))
	}
	if err := errors.Join(errs...); err != nil {
		return unusable("%w", err)
	}
	return nil
}

// selects reports whether --policy selects the policy.
func (o *auditOptions) selects(policy string) bool {
	return len(o.policies) == 0 || slices.Contains(o.policies, policy)
}
