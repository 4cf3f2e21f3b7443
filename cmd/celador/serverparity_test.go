// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	apitesting "k8s.io/kubernetes/pkg/api/testing"
	"sigs.k8s.io/yaml"

	"celador.io/offline/cluster"

	"celador.io/celador/pkg/offlinebackend"
)

// parityManifests are the objects of both servers. The policy denies each object with the
// annotation deny, whatever its kind.
const parityManifests = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: annotated}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"]}]
  matchConditions:
  - {name: annotated, expression: "object != null && has(object.metadata) && has(object.metadata.annotations) && 'deny' in object.metadata.annotations"}
  validations: [{expression: "false", message: the object is annotated}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: annotated}
spec: {policyName: annotated, validationActions: [Deny]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: default}
---
apiVersion: v1
kind: Pod
metadata: {name: stored, namespace: default}
spec: {serviceAccountName: default, containers: [{name: a, image: a}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: pods}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: jane}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: pods}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]
`

// parityRequests are new objects about which the settings of a server decide, by the paths of their
// resources.
var parityRequests = map[string]string{
	"privileged":              "v1/pods {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: a, securityContext: {privileged: true}}]}}",
	"privileged init":         "v1/pods {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {initContainers: [{name: b, image: b, securityContext: {privileged: true}}], containers: [{name: a, image: a}]}}",
	"hostProcess":             "v1/pods {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {hostNetwork: true, securityContext: {windowsOptions: {hostProcess: true}}, containers: [{name: a, image: a}]}}",
	"host namespaces":         "v1/pods {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {hostNetwork: true, hostPID: true, hostIPC: true, containers: [{name: a, image: a, ports: [{containerPort: 80}]}]}}",
	"hostUsers":               "v1/pods {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {hostUsers: false, containers: [{name: a, image: a, securityContext: {procMount: Unmasked}}]}}",
	"Pod resources":           "v1/pods {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {resources: {requests: {cpu: 1}}, containers: [{name: a, image: a, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]}}",
	"priority":                "v1/pods {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {priorityClassName: system-node-critical, containers: [{name: a, image: a}]}}",
	"denied Pod":              "v1/pods {apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {deny: ''}}, spec: {containers: [{name: a, image: a}]}}",
	"Deployment":              "apps/v1/deployments {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a, securityContext: {privileged: true}}]}}}}",
	"DaemonSet":               "apps/v1/daemonsets {apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a, securityContext: {privileged: true}}]}}}}",
	"CronJob":                 "batch/v1/cronjobs {apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a, securityContext: {privileged: true}}]}}}}}}",
	"Service":                 "v1/services {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}",
	"PreferDualStack":         "v1/services {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ipFamilyPolicy: PreferDualStack, ports: [{port: 80}]}}",
	"RequireDualStack":        "v1/services {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ipFamilyPolicy: RequireDualStack, ports: [{port: 80}]}}",
	"IPv6":                    "v1/services {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ipFamilies: [IPv6], ports: [{port: 80}]}}",
	"headless":                "v1/services {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: None, ports: [{port: 80}]}}",
	"node port":               "v1/services {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}}",
	"node port out of range":  "v1/services {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: NodePort, ports: [{port: 80, nodePort: 80}]}}",
	"external name":           "v1/services {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: ExternalName, externalName: example.com}}",
	"Namespace":               "v1/namespaces {apiVersion: v1, kind: Namespace, metadata: {name: a}}",
	"large":                   "v1/configmaps {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '" + strings.Repeat("a", 3<<20) + "'}}",
	"PersistentVolume":        "v1/persistentvolumes {apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /a}}}",
	"claim":                   "v1/persistentvolumeclaims {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
	"Node":                    "v1/nodes {apiVersion: v1, kind: Node, metadata: {name: a}}",
	"Ingress":                 "networking.k8s.io/v1/ingresses {apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {defaultBackend: {service: {name: a, port: {number: 80}}}}}",
	"empty rules":             "rbac.authorization.k8s.io/v1/clusterroles {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}, rules: []}",
	"Binding":                 "v1/bindings {apiVersion: v1, kind: Binding, metadata: {name: stored}, target: {kind: Node, name: node}}",
	"denied Binding":          "v1/bindings {apiVersion: v1, kind: Binding, metadata: {name: stored, annotations: {deny: ''}}, target: {kind: Node, name: node}}",
	"binding":                 "v1/pods/binding {apiVersion: v1, kind: Binding, metadata: {name: stored}, target: {kind: Node, name: node}}",
	"denied binding":          "v1/pods/binding {apiVersion: v1, kind: Binding, metadata: {name: stored, annotations: {deny: ''}}, target: {kind: Node, name: node}}",
	"eviction":                "v1/pods/eviction {apiVersion: policy/v1, kind: Eviction, metadata: {name: stored}}",
	"denied eviction":         "v1/pods/eviction {apiVersion: policy/v1, kind: Eviction, metadata: {name: stored, annotations: {deny: ''}}}",
	"token":                   "v1/serviceaccounts/token {apiVersion: authentication.k8s.io/v1, kind: TokenRequest, metadata: {name: default}, spec: {}}",
	"token of a Pod":          "v1/serviceaccounts/token {apiVersion: authentication.k8s.io/v1, kind: TokenRequest, metadata: {name: default}, spec: {expirationSeconds: 3607, boundObjectRef: {apiVersion: v1, kind: Pod, name: stored}}}",
	"denied token":            "v1/serviceaccounts/token {apiVersion: authentication.k8s.io/v1, kind: TokenRequest, metadata: {name: default, annotations: {deny: ''}}, spec: {}}",
	"access of nobody":        "authorization.k8s.io/v1/subjectaccessreviews {apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: nobody, resourceAttributes: {verb: get, resource: pods}}}",
	"access of jane":          "authorization.k8s.io/v1/subjectaccessreviews {apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: jane, resourceAttributes: {verb: get, resource: pods}}}",
	"access to a path":        "authorization.k8s.io/v1/subjectaccessreviews {apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: nobody, groups: ['system:authenticated'], nonResourceAttributes: {verb: get, path: /openapi}}}",
	"annotated access":        "authorization.k8s.io/v1/subjectaccessreviews {apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, metadata: {annotations: {deny: ''}}, spec: {user: jane, resourceAttributes: {verb: get, resource: pods}}}",
	"empty access":            "authorization.k8s.io/v1/subjectaccessreviews {apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview}",
	"local access":            "authorization.k8s.io/v1/localsubjectaccessreviews {apiVersion: authorization.k8s.io/v1, kind: LocalSubjectAccessReview, metadata: {namespace: default}, spec: {user: jane, resourceAttributes: {namespace: default, verb: get, resource: pods}}}",
	"access elsewhere":        "authorization.k8s.io/v1/localsubjectaccessreviews {apiVersion: authorization.k8s.io/v1, kind: LocalSubjectAccessReview, metadata: {namespace: default}, spec: {user: jane, resourceAttributes: {namespace: other, verb: get, resource: pods}}}",
	"own access":              "authorization.k8s.io/v1/selfsubjectaccessreviews {apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {resourceAttributes: {verb: get, resource: pods}}}",
	"rules":                   "authorization.k8s.io/v1/selfsubjectrulesreviews {apiVersion: authorization.k8s.io/v1, kind: SelfSubjectRulesReview, metadata: {annotations: {deny: ''}}, spec: {namespace: default}}",
	"rules of no namespace":   "authorization.k8s.io/v1/selfsubjectrulesreviews {apiVersion: authorization.k8s.io/v1, kind: SelfSubjectRulesReview}",
	"token review":            "authentication.k8s.io/v1/tokenreviews {apiVersion: authentication.k8s.io/v1, kind: TokenReview, metadata: {annotations: {deny: ''}}, spec: {token: a}}",
	"empty token review":      "authentication.k8s.io/v1/tokenreviews {apiVersion: authentication.k8s.io/v1, kind: TokenReview}",
	"self review":             "authentication.k8s.io/v1/selfsubjectreviews {apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview, metadata: {annotations: {deny: ''}}}",
	"empty Binding":           "v1/bindings {apiVersion: v1, kind: Binding}",
	"empty eviction":          "v1/pods/eviction {apiVersion: policy/v1, kind: Eviction}",
	"eviction of another Pod": "v1/pods/eviction {apiVersion: policy/v1, kind: Eviction, metadata: {name: other}}",
}

// A parity sends requests to celador serve, which is another process, and to a cluster without a
// server in this one. Settings of the process that only the server applies are so missing here.
type parity struct {
	server  rest.Interface
	offline *cluster.Cluster
	// resources are the resources of the server by the paths of their collections.
	resources map[string]metav1.APIResource
}

func newParity(t *testing.T) *parity {
	t.Helper()
	dir := t.TempDir()
	startServe(t, dir, "try: ")
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	config.UserAgent = "unknown" // the field manager of requests without the header
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	p := &parity{server: client.RESTClient(), resources: map[string]metav1.APIResource{}}
	_, lists, err := client.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		for _, r := range list.APIResources {
			p.resources[list.GroupVersion+"/"+r.Name] = r
		}
	}
	objects := documentsOf(t, parityManifests)
	if p.offline, err = cluster.New(t.Context(), offlinebackend.KubeAPIServer, objects...); err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		body, err := json.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		plural, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		if err := p.server.Post().AbsPath(p.path(plural, object.GetNamespace(), "", "")...).Body(body).Do(t.Context()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func documentsOf(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, document := range strings.Split(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// administrator is the user of the kubeconfig of celador serve.
var administrator = &user.DefaultInfo{Name: "celador-admin", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}

// comparableAnswer returns what differs between equal requests of two servers in an answer: the
// object or the error, without what servers choose anew for each request.
func comparableAnswer(object *unstructured.Unstructured, err error) any {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s := status.Status()
		causes := []string{s.Message}
		if s.Details != nil && len(s.Details.Causes) > 1 {
			// The message joins the causes, some of which are about maps.
			causes = nil
			for _, cause := range s.Details.Causes {
				causes = append(causes, fmt.Sprintf("%s: %s: %s", cause.Field, cause.Type, cause.Message))
			}
			slices.Sort(causes)
		}
		for i := range causes {
			causes[i] = chosen.ReplaceAllString(causes[i], "chosen")
		}
		return map[string]any{"code": s.Code, "reason": s.Reason, "causes": causes}
	}
	if err != nil {
		return err.Error()
	}
	if object == nil || object.GetKind() == "Status" {
		return nil // clusters without a server have no such answer
	}
	content := object.DeepCopy()
	for _, field := range []string{"uid", "creationTimestamp", "resourceVersion", "managedFields"} {
		unstructured.RemoveNestedField(content.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(content.Object, "status", "userInfo", "extra") // the certificate of the client
	unstructured.RemoveNestedField(content.Object, "status", "token")
	for _, field := range []string{"resourceRules", "nonResourceRules"} {
		if rules, found, _ := unstructured.NestedSlice(content.Object, "status", field); found {
			// Servers list RBAC objects in any order.
			slices.SortFunc(rules, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			_ = unstructured.SetNestedSlice(content.Object, rules, "status", field)
		}
	}
	text, err := json.MarshalIndent(content.Object, "", " ")
	if err != nil {
		return err.Error()
	}
	return chosen.ReplaceAllString(string(text), "chosen")
}

// chosen matches values that a server chooses: addresses of Services, names of the volumes of
// tokens, times and UIDs.
var chosen = regexp.MustCompile(`\b10\.\d+\.\d+\.\d+\b|kube-api-access-\w+|\d{4}-\d\d-\d\dT[\d:.]+Z|\d{4}-\d\d-\d\dT[\d:.]+\+[\d:]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// compare sends the creation of an object to the server and to the cluster, and compares the
// answers.
func (p *parity) compare(t *testing.T, resource schema.GroupVersionResource, subresource, name string, object *unstructured.Unstructured) {
	t.Helper()
	namespace := ""
	if p.resources[resource.GroupVersion().String()+"/"+resource.Resource].Namespaced {
		namespace = cmp.Or(object.GetNamespace(), metav1.NamespaceDefault)
	}
	body, err := json.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	result := p.server.Post().AbsPath(p.path(resource, namespace, name, subresource)...).Param("dryRun", metav1.DryRunAll).Param("fieldValidation", metav1.FieldValidationStrict).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(t.Context())
	raw, err := result.Raw()
	stored := &unstructured.Unstructured{}
	if err == nil {
		if err := stored.UnmarshalJSON(raw); err != nil {
			t.Fatal(err)
		}
	}
	want := comparableAnswer(stored, result.Error())

	if subresource == "" {
		name = ""
	}
	response, err := p.offline.Admit(context.Background(), &cluster.Request{
		Operation: admission.Create, Resource: resource, Subresource: subresource, Namespace: namespace, Name: name, Object: object, DryRun: true, UserInfo: administrator,
	})
	var got any
	switch {
	case err != nil:
		got = comparableAnswer(nil, err)
	case response.Status != nil:
		got = comparableAnswer(nil, response.Status)
	default:
		got = comparableAnswer(response.Object, nil)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-server +offline):\n%s", diff)
	}
}

// path returns the elements of the path of a collection or a subresource.
func (p *parity) path(resource schema.GroupVersionResource, namespace, name, subresource string) []string {
	path := []string{"apis", resource.Group, resource.Version}
	if resource.Group == "" {
		path = []string{"api", resource.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	path = append(path, resource.Resource)
	if subresource != "" {
		path = append(path, name, subresource)
	}
	return path
}

// TestServerParity compares the answers of celador serve and of a cluster without a server to the
// same requests.
func TestServerParity(t *testing.T) {
	p := newParity(t)
	for name, request := range parityRequests {
		t.Run(name, func(t *testing.T) {
			path, text, _ := strings.Cut(request, " ")
			object := documentsOf(t, text)[0]
			resource, subresource := parseParityPath(path)
			subject := cmp.Or(object.GetName(), "stored")
			p.compare(t, resource, subresource, subject, object)
		})
	}
	t.Run("every resource", p.testEveryResource)
	for path, r := range p.resources {
		resource, subresource := parseParityPath(path)
		kind := resource.GroupVersion().WithKind(r.Kind)
		if !slices.Contains(r.Verbs, "create") || subresource != "" || !legacyscheme.Scheme.Recognizes(kind) {
			continue
		}
		for seed := range int64(10) {
			t.Run(fmt.Sprintf("random %s %d", path, seed), func(t *testing.T) {
				p.compare(t, resource, "", "", randomObject(t, kind, seed))
			})
		}
	}
}

// testEveryResource sends requests for each resource and subresource, which may be refused, but
// must not panic.
func (p *parity) testEveryResource(t *testing.T) {
	for path, r := range p.resources {
		resource, subresource := parseParityPath(path)
		kind := resource.GroupVersion().WithKind(r.Kind)
		if r.Group != "" {
			kind = schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
		}
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		object.SetName("stored")
		for _, operation := range []admission.Operation{admission.Create, admission.Update, admission.Delete, admission.Connect} {
			for _, body := range []*unstructured.Unstructured{nil, object} {
				request := &cluster.Request{Operation: operation, Resource: resource, Subresource: subresource, Object: body}
				if subresource != "" {
					request.Name = "stored"
				}
				if _, err := p.offline.Admit(t.Context(), request); err != nil && strings.Contains(err.Error(), "panic") {
					t.Errorf("%s %s: %v", operation, path, err)
				}
			}
		}
	}
}

// parseParityPath parses a path such as apps/v1/deployments/scale or v1/pods.
func parseParityPath(path string) (resource schema.GroupVersionResource, subresource string) {
	parts := strings.Split(path, "/")
	if strings.HasPrefix(parts[0], "v1") {
		parts = append([]string{""}, parts...)
	}
	if len(parts) > 3 {
		subresource = parts[3]
	}
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}, subresource
}

// randomObject returns an object of a built-in kind with random fields. Its name is valid.
func randomObject(t *testing.T, kind schema.GroupVersionKind, seed int64) *unstructured.Unstructured {
	t.Helper()
	internal, err := legacyscheme.Scheme.New(schema.GroupVersionKind{Group: kind.Group, Version: runtime.APIVersionInternal, Kind: kind.Kind})
	if err != nil {
		t.Fatal(err)
	}
	fuzzer.FuzzerFor(apitesting.FuzzerFuncs, rand.NewSource(seed), legacyscheme.Codecs).Fill(internal)
	external, err := legacyscheme.Scheme.ConvertToVersion(internal, kind.GroupVersion())
	if err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(external)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(kind)
	delete(object.Object, "metadata")
	object.SetName("random")
	if kind.Kind == "Pod" {
		// Only a server demands that these exist.
		for _, field := range []string{"serviceAccountName", "serviceAccount", "priorityClassName", "runtimeClassName"} {
			unstructured.RemoveNestedField(object.Object, "spec", field)
		}
	}
	return object
}
