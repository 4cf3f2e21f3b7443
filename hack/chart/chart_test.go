// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	syaml "sigs.k8s.io/yaml"
)

const chartDir = "../../deploy/webhook/chart"

// variants are values that select each branch of the templates.
var variants = map[string]string{
	"default": "",
	"all": `
createNamespace: true
serviceName: policies
image: {repository: example.com/celador-webhook, tag: v1, pullPolicy: Always, pullSecrets: [{name: registry}]}
replicas: 3
resources: {limits: {cpu: 1, memory: 1Gi}}
logging: {format: json, verbosity: 4}
extraArgs: [--webhook-timeout=5s]
shutdownDelaySeconds: 60
securePort: 10250
healthPort: 8081
paramResources: [{apiGroups: [""], resources: [configmaps]}, {apiGroups: [example.com], resources: [limits]}]
priorityClassName: ""
podAnnotations: {prometheus.io/scrape: "true"}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{operator: Exists}]
`,
	"cert-manager": "certManager: {enabled: true}",
	"clients":      "{clientCAConfigMap: api-servers, certManager: {enabled: true}}",
	"issuer":       "certManager: {enabled: true, issuerRef: {kind: ClusterIssuer, name: company}, duration: 720h}",
}

// objects renders the chart and decodes what it gives strictly. Kinds of cert-manager, for which
// there are no types here, are unstructured.
func objects(t *testing.T, values string) []runtime.Object {
	t.Helper()
	parsed := map[string]any{}
	if err := syaml.UnmarshalStrict([]byte(values), &parsed); err != nil {
		t.Fatal(err)
	}
	rendered, err := render(chartDir, parsed)
	if err != nil {
		t.Fatal(err)
	}
	strict := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	var all []runtime.Object
	for _, template := range templates(rendered) {
		reader := yaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(rendered[template])))
		buffer := make([]byte, 1<<20)
		for {
			n, err := reader.Read(buffer)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			document := bytes.Clone(buffer[:n])
			object, _, err := strict.Decode(document, nil, nil)
			if runtime.IsNotRegisteredError(err) {
				u := &unstructured.Unstructured{}
				if err = syaml.UnmarshalStrict(document, &u.Object); u.GroupVersionKind().Group != "cert-manager.io" {
					t.Errorf("%s: unknown kind %s", template, u.GroupVersionKind())
				}
				object = u
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", template, err, document)
			}
			all = append(all, object)
		}
	}
	return all
}

// find returns the only object of the type, or the one with the name.
func find[T metav1.Object](t *testing.T, objects []runtime.Object, name string) T {
	t.Helper()
	for _, o := range objects {
		if o, ok := o.(T); ok && (name == "" || o.GetName() == name) {
			return o
		}
	}
	var none T
	t.Fatalf("there is no %v %s", reflect.TypeOf(none), name)
	return none
}

// pods returns the templates of all Pods.
func pods(t *testing.T, objects []runtime.Object) map[string]corev1.PodTemplateSpec {
	t.Helper()
	return map[string]corev1.PodTemplateSpec{
		"Deployment": find[*appsv1.Deployment](t, objects, "").Spec.Template,
		"Job":        find[*batchv1.Job](t, objects, "").Spec.Template,
	}
}

func TestObjects(t *testing.T) {
	for name, values := range variants {
		t.Run(name, func(t *testing.T) {
			all := objects(t, values)
			for _, o := range all {
				accessor, ok := o.(metav1.Object)
				if !ok || accessor.GetName() == "" {
					t.Errorf("%T has no name", o)
					continue
				}
				kind := o.GetObjectKind().GroupVersionKind().Kind
				clusterScoped := strings.HasPrefix(kind, "ClusterRole") || kind == "Namespace"
				got := accessor.GetNamespace()
				if (got == "") != clusterScoped || got != "" && got != "celador-system" && !strings.Contains(accessor.GetName(), "-events:") {
					t.Errorf("%s %s is in the namespace %q", kind, accessor.GetName(), got)
				}
				// A release of the same name in another namespace must not replace the object.
				if got != "celador-system" && kind != "Namespace" && !strings.HasSuffix(accessor.GetName(), ":celador-system") {
					t.Errorf("the name of %s %s does not have the namespace of the release", kind, accessor.GetName())
				}
			}
			evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for owner, pod := range pods(t, all) {
				level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
				if result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec)); !result.Allowed {
					t.Errorf("the Pods of the %s are not restricted: %s", owner, result.ForbiddenDetail())
				}
				if container := pod.Spec.Containers[0]; !*container.SecurityContext.ReadOnlyRootFilesystem {
					t.Errorf("the Pods of the %s can write to their image", owner)
				}
			}

			// The selectors select the Pods of the Deployment, and not that of the Job.
			deployment := find[*appsv1.Deployment](t, all, "")
			service := find[*corev1.Service](t, all, "")
			for key, value := range service.Spec.Selector {
				if deployment.Spec.Template.Labels[key] != value || deployment.Spec.Selector.MatchLabels[key] != value {
					t.Errorf("the selectors differ in %s", key)
				}
			}
			if job := find[*batchv1.Job](t, all, ""); metav1.FormatLabelSelector(deployment.Spec.Selector) == metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: job.Spec.Template.Labels}) ||
				job.Spec.Template.Labels["app.kubernetes.io/name"] == deployment.Spec.Selector.MatchLabels["app.kubernetes.io/name"] {
				t.Error("the Service selects the Pod of the Job")
			}

			// The delay is over before the kubelet kills the container.
			container := deployment.Spec.Template.Spec.Containers[0]
			for _, arg := range container.Args {
				if value, ok := strings.CutPrefix(arg, "--shutdown-delay-duration="); ok {
					delay, err := time.ParseDuration(value)
					if err != nil || time.Duration(*deployment.Spec.Template.Spec.TerminationGracePeriodSeconds)*time.Second <= delay {
						t.Errorf("the grace period is %d s, the delay %s", *deployment.Spec.Template.Spec.TerminationGracePeriodSeconds, value)
					}
				}
			}
		})
	}
}

// TestPermissions lists all permissions, so that a change shows.
func TestPermissions(t *testing.T) {
	rules := func(rules []rbacv1.PolicyRule) (text []string) {
		for _, rule := range rules {
			text = append(text, fmt.Sprint(rule.Verbs, " ", rule.APIGroups, " ", rule.Resources, " ", rule.ResourceNames))
		}
		return text
	}
	all := objects(t, variants["all"])
	for _, test := range []struct {
		name string
		got  []string
		want []string
	}{
		{"ClusterRole", rules(find[*rbacv1.ClusterRole](t, all, "policies:celador-system").Rules), []string{
			"[get list watch] [policy.celador.io] [validatingadmissionpolicies validatingadmissionpolicybindings mutatingadmissionpolicies mutatingadmissionpolicybindings] []",
			"[patch] [policy.celador.io] [validatingadmissionpolicies/status mutatingadmissionpolicies/status] []",
			"[get list watch] [] [namespaces] []",
			"[get list watch] [apiextensions.k8s.io] [customresourcedefinitions] []",
			"[list watch] [apiregistration.k8s.io] [apiservices] []",
			"[create] [admissionregistration.k8s.io] [validatingwebhookconfigurations mutatingwebhookconfigurations] []",
			"[get list watch update delete] [admissionregistration.k8s.io] [validatingwebhookconfigurations mutatingwebhookconfigurations] [policy.celador.io]",
			"[get] [rbac.authorization.k8s.io] [clusterroles] [policies:celador-system]",
			"[create] [authorization.k8s.io] [subjectaccessreviews] []",
		}},
		{"params", rules(find[*rbacv1.ClusterRole](t, all, "policies-param-resources:celador-system").Rules), []string{
			"[get list watch] [] [configmaps] []", "[get list watch] [example.com] [limits] []",
		}},
		{"Role", rules(find[*rbacv1.Role](t, all, "policies").Rules), []string{
			"[create] [coordination.k8s.io] [leases] []",
			"[get update] [coordination.k8s.io] [leases] [policies]",
			"[create] [] [secrets] []",
			"[get list watch update] [] [secrets] [policies-certificates]",
		}},
		{"Role with cert-manager", rules(find[*rbacv1.Role](t, objects(t, variants["cert-manager"]), "celador-webhook").Rules), []string{
			"[create] [coordination.k8s.io] [leases] []",
			"[get update] [coordination.k8s.io] [leases] [celador-webhook]",
		}},
		{"events", rules(find[*rbacv1.Role](t, all, "policies-events:celador-system").Rules), []string{"[create patch] [events.k8s.io] [events] []"}},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s: the permissions are\n%s\nwant\n%s", test.name, strings.Join(test.got, "\n"), strings.Join(test.want, "\n"))
		}
	}
	params := find[*rbacv1.ClusterRole](t, all, "policies-params:celador-system")
	selector := params.AggregationRule.ClusterRoleSelectors[0].MatchLabels
	if role := find[*rbacv1.ClusterRole](t, all, "policies-param-resources:celador-system"); !maps.Equal(selector, map[string]string{"policy.celador.io/aggregate-to-params": "true"}) ||
		role.Labels["policy.celador.io/aggregate-to-params"] != "true" {
		t.Errorf("the role of params selects %v", selector)
	}
}

// TestValues checks that each value arrives where it belongs.
func TestValues(t *testing.T) {
	all := objects(t, variants["all"])
	find[*corev1.Namespace](t, all, "celador-system")
	deployment := find[*appsv1.Deployment](t, all, "policies")
	pod := deployment.Spec.Template
	container := pod.Spec.Containers[0]
	want := []string{"--service-name=policies", "--secure-port=10250", "--health-bind-address=:8081", "--shutdown-delay-duration=60s", "--logging-format=json", "--v=4", "--webhook-timeout=5s"}
	if !slices.Equal(container.Args, want) {
		t.Errorf("the arguments are %v", container.Args)
	}
	if *deployment.Spec.Replicas != 3 || container.Image != "example.com/celador-webhook:v1" || container.ImagePullPolicy != corev1.PullAlways ||
		container.Resources.Limits.Memory().String() != "1Gi" || container.Ports[0].ContainerPort != 10250 || container.Ports[1].ContainerPort != 8081 {
		t.Errorf("the container is %v", container)
	}
	for owner, pod := range pods(t, all) {
		if spec := pod.Spec; spec.ServiceAccountName != "policies" || spec.PriorityClassName != "" || len(spec.ImagePullSecrets) != 1 || len(spec.NodeSelector) != 1 || len(spec.Tolerations) != 1 {
			t.Errorf("the Pods of the %s are %v", owner, spec)
		}
	}
	for values, volumes := range map[string]int{"{clientCAConfigMap: api-servers}": 1, variants["clients"]: 2} {
		spec := find[*appsv1.Deployment](t, objects(t, values), "").Spec.Template.Spec
		container, last := spec.Containers[0], len(spec.Volumes)-1
		if !slices.Contains(container.Args, "--client-ca-file=/client-ca/ca.crt") || len(spec.Volumes) != volumes || len(container.VolumeMounts) != volumes ||
			spec.Volumes[last].ConfigMap == nil || spec.Volumes[last].ConfigMap.Name != "api-servers" || container.VolumeMounts[last].MountPath != "/client-ca" {
			t.Errorf("%s: the webhook does not read the authorities of its clients: %v", values, spec)
		}
	}
	if pod.Annotations["prometheus.io/scrape"] != "true" {
		t.Errorf("the annotations are %v", pod.Annotations)
	}

	byDefault := objects(t, "")
	for owner, pod := range pods(t, byDefault) {
		if pod.Spec.PriorityClassName != "system-cluster-critical" {
			t.Errorf("the Pods of the %s have the priority %q", owner, pod.Spec.PriorityClassName)
		}
	}
	if env := deployment.Spec.Template.Spec.Containers[0].Env; !slices.ContainsFunc(env, func(v corev1.EnvVar) bool { return v.Name == "GOMEMLIMIT" && v.ValueFrom.ResourceFieldRef != nil }) {
		t.Errorf("the environment is %v, without a limit of the memory", env)
	}
	find[*corev1.ResourceQuota](t, byDefault, "")
	if job := find[*batchv1.Job](t, byDefault, ""); job.Annotations["helm.sh/hook"] != "pre-delete" || job.Spec.Template.Spec.Containers[0].Args[0] != "uninstall" {
		t.Errorf("Helm runs %v", job.Spec.Template.Spec.Containers[0].Args)
	}
}

func TestCertManager(t *testing.T) {
	for name, want := range map[string][]string{
		"default":      nil,
		"cert-manager": {"Issuer celador-webhook-selfsigned", "Certificate celador-webhook-ca", "Issuer celador-webhook-ca", "Certificate celador-webhook"},
		"issuer":       {"Certificate celador-webhook"},
	} {
		all := objects(t, variants[name])
		var got []string
		for _, o := range all {
			u, ok := o.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			got = append(got, u.GetKind()+" "+u.GetName())
			if names, _, _ := unstructured.NestedStringSlice(u.Object, "spec", "dnsNames"); u.GetName() == "celador-webhook" && !slices.Contains(names, "celador-webhook.celador-system.svc") {
				t.Errorf("%s: the certificate is for %v", name, names)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the objects of cert-manager are %v, want %v", name, got, want)
		}
		pod := find[*appsv1.Deployment](t, all, "").Spec.Template.Spec
		if files := slices.Contains(pod.Containers[0].Args, "--cert-dir=/certificates"); files != (want != nil) || files != (len(pod.Volumes) == 1) || files != (len(pod.Containers[0].VolumeMounts) == 1) {
			t.Errorf("%s: the webhook reads files: %v, from %v", name, files, pod.Volumes)
		}
	}
}

// TestWrongValues checks that Helm refuses values that would have no effect or break the release.
func TestWrongValues(t *testing.T) {
	for values, want := range map[string]string{
		"replica: 3":                          "replica",
		"replicas: 0":                         "replicas",
		"serviceName: Policies":               "serviceName",
		"image: {name: webhook}":              "name",
		"certManager: {enable: true}":         "enable",
		"logging: {format: xml}":              "format",
		"securePort: 443":                     "securePort", // of a user without privileges
		"shutdownDelaySeconds: 15s":           "shutdownDelaySeconds",
		"paramResources: [{apiGroups: ['']}]": "resources",
		"extraArgs: --v=4":                    "extraArgs",
	} {
		parsed := map[string]any{}
		if err := syaml.UnmarshalStrict([]byte(values), &parsed); err != nil {
			t.Fatal(err)
		}
		if _, err := render(chartDir, parsed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one about %s", values, err, want)
		}
	}
}

// TestVersion checks that the chart installs the image of this version.
func TestVersion(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^VERSION := (.*)$`).FindSubmatch(makefile)
	chart, err := loader.LoadDir(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	if got := chart.Metadata.AppVersion; version == nil || got != string(version[1]) {
		t.Errorf("the version in the chart is %s, in the Makefile %s", got, version)
	}
}
