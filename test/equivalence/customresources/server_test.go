// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	upstream "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	upstreamopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/common"

	apiextensionsv1 "celador.io/api/apiextensions/v1"
	celador "celador.io/apiextensions-apiserver/pkg/apiserver"

	celadoropenapi "celador.io/celador/pkg/generated/openapi"
)

// A side is an implementation of the server of custom resources.
type side struct {
	name   string
	build  func(upstream.CompletedConfig, genericapiserver.DelegationTarget) (*upstream.CustomResourceDefinitions, error)
	models common.GetOpenAPIDefinitions
	// schemes are the schemes of the models.
	schemes []*runtime.Scheme
}

var (
	upstreamSide = side{
		"upstream", func(config upstream.CompletedConfig, delegate genericapiserver.DelegationTarget) (*upstream.CustomResourceDefinitions, error) {
			return config.New(delegate)
		},
		upstreamopenapi.GetOpenAPIDefinitions, []*runtime.Scheme{upstream.Scheme},
	}
	celadorSide = side{"celador", celador.New, celadorModels, []*runtime.Scheme{upstream.Scheme, celadorScheme()}}
)

// celadorModels returns Celador's models, as the control plane merges them with Kubernetes'.
func celadorModels(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	models := upstreamopenapi.GetOpenAPIDefinitions(ref)
	maps.Copy(models, celadoropenapi.GetOpenAPIDefinitions(ref))
	return models
}

func celadorScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	return scheme
}

// A server is a running server of custom resources.
type server struct {
	name string
	// url and client send requests. The client neither follows redirects nor decompresses.
	url    string
	client *http.Client
	// prefix is the prefix of the server's keys in etcd.
	prefix  string
	witness *witness
}

// start runs a server on an etcd until the end of the test.
func start(t *testing.T, of side, endpoint, prefix string) *server {
	t.Helper()
	// Options require a kubeconfig of a server of Services, which is never called.
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(kubeconfig, []byte(`{apiVersion: v1, kind: Config, current-context: none, contexts: [{name: none, context: {cluster: none}}],
		clusters: [{name: none, cluster: {server: "http://127.1.2.3:1"}}]}`), 0o600))

	o := options.NewCustomResourceDefinitionsServerOptions(io.Discard, io.Discard)
	recommended := o.RecommendedOptions
	recommended.Etcd.StorageConfig.Transport.ServerList = []string{endpoint}
	recommended.Etcd.StorageConfig.Prefix = prefix
	recommended.Authentication, recommended.Authorization, recommended.Admission = nil, nil, nil
	recommended.CoreAPI.CoreAPIKubeconfigPath = kubeconfig
	recommended.Features.EnablePriorityAndFairness = false
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	recommended.SecureServing.Listener = listener
	recommended.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	recommended.SecureServing.ServerCert.CertDirectory = ""
	must(t, o.Complete())
	config, err := o.Config()
	must(t, err)
	s := &server{name: of.name, prefix: prefix, witness: &witness{}}
	generic := &config.GenericConfig.Config
	models, namer := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(of.models), openapinamer.NewDefinitionNamer(of.schemes...)
	generic.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(models, namer)
	generic.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(models, namer)
	generic.Authentication.Authenticator = authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: &user.DefaultInfo{Name: "tester", Groups: []string{user.SystemPrivilegedGroup}}}, true, nil
	})
	generic.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	generic.AdmissionControl = s.witness

	running, err := of.build(config.Complete(), genericapiserver.NewEmptyDelegate())
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	prepared := running.GenericAPIServer.PrepareRun()
	go func() { done <- prepared.RunWithContext(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("stopping %s: %v", of.name, err)
		}
	})

	loopback := rest.CopyConfig(running.GenericAPIServer.LoopbackClientConfig)
	loopback.DisableCompression = true
	s.url = loopback.Host
	transport, err := rest.TransportFor(loopback)
	must(t, err)
	s.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	// The informer of Services never synchronizes, so the server is healthy but not ready.
	eventually(t, of.name+" is healthy", func() bool {
		response, err := s.client.Get(s.url + "/healthz")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return s
}

// eventually returns when the condition holds. It ends the test after a minute.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute, it does not hold that %s", what)
		}
	}
}

// eventuallyEqual fails the test with the difference if two answers do not become equal in 20
// seconds.
func eventuallyEqual(t testing.TB, what string, equal func() bool, difference func() string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !equal(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("%s (-upstream +celador):\n%s", what, difference())
			return
		}
	}
}
