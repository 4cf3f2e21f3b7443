// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package livesuite

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/admission"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"celador.io/offline/cluster"
	"celador.io/offline/suite"

	"celador.io/celador/test/integration/testserver"
)

// An Answer is what a client and the audit log see of the response to a request. Tests compare the
// answers of a server with those of a cluster without a server.
type Answer struct {
	// Status is the whole API error with which the request is rejected, or nil if the request is
	// allowed.
	Status           *metav1.Status
	Warnings         []string
	AuditAnnotations map[string]string
	// Object is the object after admission, without values that a server chooses anew for each
	// request. It is nil if the response has no object.
	Object map[string]any
}

// AnswerOf returns the part of a response that is compared.
func AnswerOf(response *cluster.Response) Answer {
	a := Answer{Warnings: response.Warnings, AuditAnnotations: response.AuditAnnotations}
	if response.Status != nil {
		a.Status = &response.Status.ErrStatus
	}
	if response.Object != nil {
		a.Object = deterministic(response.Object)
	}
	return a
}

// chosen are fields whose values a server chooses anew for each request, and which suite.Normalize
// does not remove.
var chosen = [][]string{{"metadata", "deletionTimestamp"}, {"spec", "clusterIP"}, {"spec", "clusterIPs"}}

// deterministic returns a copy of an object without the values that a server chooses anew for each
// request.
func deterministic(object *unstructured.Unstructured) map[string]any {
	normalized := suite.Normalize(object)
	for _, field := range chosen {
		unstructured.RemoveNestedField(normalized, field...)
	}
	ports, _, _ := unstructured.NestedSlice(normalized, "spec", "ports")
	for _, port := range ports {
		if fields, ok := port.(map[string]any); ok {
			delete(fields, "nodePort")
		}
	}
	if len(ports) > 0 {
		_ = unstructured.SetNestedSlice(normalized, ports, "spec", "ports") // The field exists.
	}
	return normalized
}

// administrator is the user of requests that name no user.
var administrator = &user.DefaultInfo{Name: "kubernetes-admin", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}

// An Exchange is a request to a server, ready to be sent any number of times. It is a dry run.
type Exchange struct {
	server *Server
	client *http.Client
	method string
	url    string
	body   []byte
	header http.Header
}

// NewExchange returns an Exchange that sends the request to the server. It creates the namespace of
// the request unless it exists. The test fails if the operation is Connect, which is not compared.
func (s *Server) NewExchange(t testing.TB, request *cluster.Request) *Exchange {
	t.Helper()
	e := &Exchange{server: s, client: testserver.Must(rest.HTTPClientFor(s.Config))(t), header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}}
	e.impersonate(request.UserInfo)
	e.locate(t, request)
	query := url.Values{"dryRun": {metav1.DryRunAll}}
	var body any
	switch request.Operation {
	case admission.Create:
		e.method, body = http.MethodPost, request.Object.Object
	case admission.Update:
		e.method, body = http.MethodPut, s.read(t, request).Object
	case admission.Delete:
		e.method, body = http.MethodDelete, map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": []any{metav1.DryRunAll}}
	default:
		t.Fatalf("%s is not compared", request.Operation)
	}
	for name, value := range request.Options {
		if request.Operation == admission.Delete {
			body.(map[string]any)[name] = value
		} else {
			query.Set(name, fmt.Sprint(value))
		}
	}
	e.url += "?" + query.Encode()
	e.body = testserver.Must(json.Marshal(body))(t)
	return e
}

// read returns a copy of the object of an UPDATE. If the object has no resource version, it gets
// that of the stored object, as if the client had read the object before it changed it.
func (s *Server) read(t testing.TB, request *cluster.Request) *unstructured.Unstructured {
	t.Helper()
	object := request.Object.DeepCopy()
	if old := request.OldObject; old != nil && object.GetResourceVersion() == "" {
		stored := testserver.Must(s.client(t, old).Get(s.context(t), old.GetName(), metav1.GetOptions{}))(t)
		object.SetResourceVersion(stored.GetResourceVersion())
	}
	return object
}

// impersonate sets the headers that make the server treat the request as one of user u. If u is
// nil, it is treated as one of the administrator.
func (e *Exchange) impersonate(u user.Info) {
	if u == nil {
		u = administrator
	}
	e.header.Set("Impersonate-User", u.GetName())
	if u.GetUID() != "" {
		e.header.Set("Impersonate-Uid", u.GetUID())
	}
	e.header["Impersonate-Group"] = u.GetGroups()
	for key, values := range u.GetExtra() {
		e.header["Impersonate-Extra-"+url.PathEscape(key)] = values
	}
}

// locate sets the URL for the request. It creates the namespace unless it exists.
func (e *Exchange) locate(t testing.TB, request *cluster.Request) {
	t.Helper()
	namespace, name := request.Namespace, request.Name
	var kind schema.GroupVersionKind
	for _, object := range []*unstructured.Unstructured{request.Object, request.OldObject} {
		if object == nil {
			continue
		}
		if kind.Empty() || request.Subresource != "" {
			kind = object.GroupVersionKind()
		}
		namespace, name = cmp.Or(namespace, object.GetNamespace()), cmp.Or(name, object.GetName())
	}
	resource, namespaced := request.Resource, request.Namespace != ""
	if resource.Empty() {
		mapping := e.server.resource(t, kind)
		resource, namespaced = mapping.Resource, mapping.Scope.Name() == "namespace"
	}
	elements := []string{"apis", resource.Group, resource.Version}
	if resource.Group == "" {
		elements = []string{"api", resource.Version}
	}
	if namespaced {
		namespace = cmp.Or(namespace, corev1.NamespaceDefault)
		e.server.ensure(t, namespace)
		elements = append(elements, "namespaces", namespace)
	}
	elements = append(elements, resource.Resource)
	if request.Operation != admission.Create || request.Subresource != "" {
		elements = append(elements, name, request.Subresource)
	}
	e.url = e.server.Config.Host + "/" + path.Join(elements...)
}

// Send sends the request and returns the answer.
func (e *Exchange) Send(ctx context.Context) (Answer, error) {
	var a Answer
	r, err := http.NewRequestWithContext(ctx, e.method, e.url, bytes.NewReader(e.body))
	if err != nil {
		return a, err
	}
	id := string(uuid.NewUUID())
	r.Header = e.header.Clone()
	r.Header.Set("Audit-ID", id)
	response, err := e.client.Do(r)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return a, err
	}
	warnings, errs := utilnet.ParseWarningHeaders(response.Header["Warning"])
	if len(errs) > 0 {
		return a, errs[0]
	}
	for _, warning := range warnings {
		a.Warnings = append(a.Warnings, warning.Text)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(data); err != nil {
		return a, err
	}
	if object.GetKind() != "Status" {
		a.Object = deterministic(object)
	} else if status := (&metav1.Status{}); object.Object["status"] == metav1.StatusFailure {
		if err := json.Unmarshal(data, status); err != nil {
			return a, err
		}
		a.Status = status
	}
	if e.server.AuditLog != "" {
		a.AuditAnnotations, err = e.server.audit(id)
	}
	return a, err
}

// audit returns the annotations of the audit event with the given ID.
func (s *Server) audit(id string) (map[string]string, error) {
	log, err := os.Open(s.AuditLog)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	for lines := bufio.NewReader(log); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("no audit event %s: %w", id, err)
		}
		if !bytes.Contains(line, []byte(id)) {
			continue
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, err
		}
		annotations := map[string]string{}
		for key, value := range event.Annotations {
			if !isServers(key) {
				annotations[key] = value
			}
		}
		return annotations, nil
	}
}

// isServers reports whether an annotation comes from a part of a server that the clusters of
// package offline/cluster do not have, so that it is not compared.
func isServers(annotation string) bool {
	for _, prefix := range []string{"authorization.k8s.io/", "pod-security.kubernetes.io/", "impersonation.k8s.io/"} {
		if strings.HasPrefix(annotation, prefix) {
			return true
		}
	}
	return false
}
