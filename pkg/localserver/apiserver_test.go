// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, args ...string) (*apiServer, error) {
	t.Helper()
	api, err := newAPIServer(dataDir(t.TempDir()), 0)
	if err != nil {
		t.Fatal(err)
	}
	return api, api.parse(args)
}

func TestParseOverrides(t *testing.T) {
	for _, test := range []struct {
		name      string
		args      []string
		modes     []string
		issuers   []string
		advertise string
	}{{
		name:      "nothing",
		modes:     []string{"Node", "RBAC"},
		issuers:   []string{serviceAccountIssuer},
		advertise: "127.0.0.1",
	}, {
		name:      "a list replaces ours",
		args:      []string{"--authorization-mode=AlwaysAllow", "--service-account-issuer=https://example.com"},
		modes:     []string{"AlwaysAllow"},
		issuers:   []string{"https://example.com"},
		advertise: "127.0.0.1",
	}, {
		name:      "underscores and separate values",
		args:      []string{"--advertise_address", "192.0.2.1"},
		modes:     []string{"Node", "RBAC"},
		issuers:   []string{serviceAccountIssuer},
		advertise: "192.0.2.1",
	}} {
		t.Run(test.name, func(t *testing.T) {
			api, err := parsed(t, test.args...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(api.Authorization.Modes, test.modes) {
				t.Errorf("authorization modes %q", api.Authorization.Modes)
			}
			if !slices.Equal(api.Authentication.ServiceAccounts.Issuers, test.issuers) {
				t.Errorf("issuers %q", api.Authentication.ServiceAccounts.Issuers)
			}
			if advertised := api.GenericServerRunOptions.AdvertiseAddress.String(); advertised != test.advertise {
				t.Errorf("advertised address %s", advertised)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for args, want := range map[string]string{
		"--no-such-flag":                  "unknown flag: --no-such-flag",
		"word":                            `"word" is not a flag`,
		"--event-ttl=soon":                `invalid argument "soon" for "--event-ttl" flag`,
		"--etcd-servers=http://127.0.0.1": "--etcd-servers cannot be set",
		"--feature-gates=NoSuchGate=true": "unrecognized feature gate: NoSuchGate",
	} {
		_, err := parsed(t, args)
		if err == nil || !strings.Contains(err.Error(), "kube-apiserver arguments: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", args, err, want)
		}
	}
}

func TestServingIPs(t *testing.T) {
	for args, want := range map[string][]string{
		"--bind-address=127.0.0.1": {"127.0.0.1", "::1"},
		"--bind-address=0.0.0.0":   {"127.0.0.1", "::1"},
		"--bind-address=192.0.2.1": {"127.0.0.1", "::1", "192.0.2.1"},
	} {
		api, err := parsed(t, args)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, ip := range api.servingIPs() {
			got = append(got, ip.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}

func TestListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port

	for _, test := range []struct {
		args []string
		err  string
	}{
		{args: []string{"--secure-port=0"}},
		{args: []string{"--secure-port=0", "--bind-address=0.0.0.0"}},
		{args: []string{fmt.Sprint("--secure-port=", port)}, err: fmt.Sprintf("port %d of 127.0.0.1 is taken", port)},
		{args: []string{"--secure-port=99999"}, err: "cannot listen on 127.0.0.1:99999"},
		{args: []string{"--bind-address=192.0.2.1"}, err: "cannot listen on 192.0.2.1:0: bind: "},
	} {
		api, err := parsed(t, test.args...)
		if err != nil {
			t.Fatal(err)
		}
		url, err := api.listen()
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q: got error %v, want %q", test.args, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		api.SecureServing.Listener.Close()
		if want := fmt.Sprint("https://127.0.0.1:", api.SecureServing.BindPort); url != want || api.SecureServing.BindPort == 0 {
			t.Errorf("%q: got URL %s, want %s", test.args, url, want)
		}
	}
}
