// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// upstreamCommand returns one shared command, because a process can register for signals only once.
var upstreamCommand = sync.OnceValue(app.NewAPIServerCommand)

func TestFlagsAreUpstreams(t *testing.T) {
	theirs, ours := upstreamCommand().Flags(), NewAPIServerCommand().Flags()
	theirs.VisitAll(func(want *pflag.Flag) {
		got := ours.Lookup(want.Name)
		if got == nil {
			t.Errorf("--%s is gone", want.Name)
			return
		}
		if got.DefValue != want.DefValue || got.NoOptDefVal != want.NoOptDefVal || got.Shorthand != want.Shorthand ||
			got.Hidden != want.Hidden || got.Deprecated != want.Deprecated || got.Value.Type() != want.Value.Type() {
			t.Errorf("--%s:\n got %+v\nwant %+v", want.Name, got, want)
		}
		if !strings.HasPrefix(got.Usage, want.Usage) || got.Usage != want.Usage && want.Name != "feature-gates" {
			t.Errorf("--%s explains\n%s\nwant\n%s", want.Name, got.Usage, want.Usage)
		}
	})
	ours.VisitAll(func(got *pflag.Flag) {
		if theirs.Lookup(got.Name) == nil && got.Name != stalenessFlag {
			t.Errorf("--%s is no flag of upstream's", got.Name)
		}
	})
}

func TestHelp(t *testing.T) {
	out, err := execute(NewAPIServerCommand(), "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kube:ValidatingAdmissionPolicy=true|false", "--runtime-config", "--disable-admission-plugins", "--version"} {
		if !strings.Contains(out, want) {
			t.Errorf("--help does not mention %s", want)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	for arg, want := range map[string]string{
		"now":              `"kube-apiserver" does not take any arguments, got ["now"]`,
		"--no-such-flag":   "unknown flag: --no-such-flag",
		"--runtime-config": "flag needs an argument: --runtime-config",
	} {
		t.Run(arg, func(t *testing.T) {
			if _, err := execute(NewAPIServerCommand(), arg); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want one with %q", err, want)
			}
		})
	}
}

func TestOptionsAreValidated(t *testing.T) {
	before := logsapi.ReapplyHandling
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged // for -count
	t.Cleanup(func() { logsapi.ReapplyHandling = before })

	cmd := NewAPIServerCommand()
	cmd.SetContext(t.Context())
	_, err := execute(cmd, "--cert-dir="+t.TempDir(), "--disable-admission-plugins=NoSuchPlugin,MutatingAdmissionPolicy")
	for _, want := range []string{"--etcd-servers must be specified", `disable-admission-plugins plugin "NoSuchPlugin" is unknown`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), `"MutatingAdmissionPolicy" is unknown`) {
		t.Errorf("got error %v about a plugin of ours", err)
	}
}

func execute(cmd *cobra.Command, args ...string) (string, error) {
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}
