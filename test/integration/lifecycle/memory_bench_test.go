// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// BenchmarkDefinitions prints how much definitions of custom resources, each with a schema of 200
// lines in YAML, add to the heap of both servers: when all are established, and after a request for
// the objects of each. Choose the number with -bench, and run it with -benchtime=1x.
func BenchmarkDefinitions(b *testing.B) {
	for _, count := range []int{20, 1000} {
		for _, command := range []string{kubernetes, celador} {
			b.Run(fmt.Sprint(count, "/", command), func(b *testing.B) {
				for b.Loop() {
					s := start(b, command)
					s.AwaitReady(b)
					s.readDocument(b)
					before := s.heap(b)
					s.define(b, count)
					s.awaitEstablished(b, count)
					s.readDocument(b)
					b.ReportMetric(s.heap(b)-before, "MB-established")
					for i := range count {
						if err := s.client.Get().AbsPath(fmt.Sprintf("/apis/%s/v1/widgets%d", definitionGroup(i), i)).Do(b.Context()).Error(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(s.heap(b)-before, "MB-served")
					b.ReportMetric(before, "MB-before")
					b.ReportMetric(0, "ns/op")
				}
			})
		}
	}
}

// define creates definition 0 and stores copies of it in etcd, with the other names. They are
// established already: the controllers establish only a few definitions a second.
func (s *server) define(b *testing.B, count int) {
	b.Helper()
	if err := s.client.Post().AbsPath(definitionsPath).SetHeader("Content-Type", "application/json").Body(definitionManifest(b, 0)).Do(b.Context()).Error(); err != nil {
		b.Fatal(err)
	}
	s.awaitEstablished(b, 1)
	key := s.Prefix + "/apiextensions.k8s.io/customresourcedefinitions/"
	stored, err := s.etcd.Get(b.Context(), key+"widgets0."+definitionGroup(0))
	if err != nil || len(stored.Kvs) != 1 {
		b.Fatalf("got %v and error %v for definition 0", stored, err)
	}
	for i := 1; i < count; i++ {
		names := strings.NewReplacer("widgets0", fmt.Sprint("widgets", i), "widget0", fmt.Sprint("widget", i), "Widget0", fmt.Sprint("Widget", i), definitionGroup(0), definitionGroup(i))
		copied := uidMember.ReplaceAllString(names.Replace(string(stored.Kvs[0].Value)), fmt.Sprintf(`"uid":"00000000-0000-4000-8000-%012d"`, i))
		if _, err := s.etcd.Put(b.Context(), fmt.Sprintf("%swidgets%d.%s", key, i, definitionGroup(i)), copied); err != nil {
			b.Fatal(err)
		}
	}
}

var uidMember = regexp.MustCompile(`"uid":"[^"]+"`)

// heap returns the lowest of several sizes of the server's heap, in MiB.
func (s *server) heap(b *testing.B) float64 {
	b.Helper()
	size := regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)$`)
	var lowest float64
	for range 10 {
		profile, err := s.client.Get().AbsPath("/debug/pprof/heap").Param("gc", "1").Param("debug", "1").DoRaw(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		found := size.FindSubmatch(profile)
		if found == nil {
			b.Fatalf("no size of the heap in\n%.1000s", profile)
		}
		allocated, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			b.Fatal(err)
		}
		if lowest == 0 || allocated < lowest {
			lowest = allocated
		}
		// Controllers that react to definitions become idle.
		time.Sleep(time.Second)
	}
	return lowest / (1 << 20)
}

// readDocument reads the OpenAPI document of all groups. The server builds it when a client reads
// it, and keeps what it is made of.
func (s *server) readDocument(b *testing.B) {
	b.Helper()
	if _, err := s.client.Get().AbsPath("/openapi/v2").DoRaw(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func (s *server) awaitEstablished(b *testing.B, count int) {
	b.Helper()
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(5 * time.Second) {
		body, err := s.client.Get().AbsPath(definitionsPath).SetHeader("Accept", "application/json").DoRaw(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		var list apiextensionsv1.CustomResourceDefinitionList
		if err := json.Unmarshal(body, &list); err != nil {
			b.Fatal(err)
		}
		established := 0
		for i := range list.Items {
			if apihelpers.IsCRDConditionTrue(&list.Items[i], apiextensionsv1.Established) {
				established++
			}
		}
		if established == count {
			return
		}
		if time.Now().After(end) {
			b.Fatalf("%d of %d definitions are established", established, count)
		}
	}
}

// definitionGroup returns the group of definition i. Ten definitions share a group.
func definitionGroup(i int) string { return fmt.Sprintf("group%d.example.com", i/10) }

// definitionManifest returns definition i as JSON. It has sections with the shapes that schemas
// usually have.
func definitionManifest(b *testing.B, i int) []byte {
	b.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets%[2]d.%[1]s
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Widget%[2]d, plural: widgets%[2]d, singular: widget%[2]d, categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Ready, type: string, jsonPath: .status.phase}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: Widget%[2]d is a resource that a controller reconciles with the state of the world.
        properties:
          status:
            type: object
            properties:
              phase:
                type: string
              observedGeneration:
                type: integer
                format: int64
          spec:
            type: object
            required: [section0]
            properties:
`, definitionGroup(i), i)
	for section := range 4 {
		fmt.Fprintf(&text, `
              section%[1]d:
                type: object
                description: Section%[1]d configures one part of widget %[2]d, as described in its documentation.
                required: [name]
                properties:
                  name:
                    type: string
                    description: Name identifies the part in widget %[2]d.
                    minLength: 1
                    maxLength: 63
                    pattern: ^[a-z]([-a-z0-9]*[a-z0-9])?$
                  replicas:
                    type: integer
                    format: int32
                    minimum: 0
                    default: 1
                  policy:
                    type: string
                    enum: [Always, Never, OnFailure]
                    default: Always
                  limits:
                    type: object
                    additionalProperties:
                      x-kubernetes-int-or-string: true
                      anyOf:
                      - type: integer
                      - type: string
                  ports:
                    type: array
                    x-kubernetes-list-type: map
                    x-kubernetes-list-map-keys: [port]
                    items:
                      type: object
                      required: [port]
                      properties:
                        port:
                          type: integer
                          minimum: 1
                          maximum: 65535
                        protocol:
                          type: string
                          description: Protocol of the port, TCP unless set.
                          default: TCP
                      x-kubernetes-validations:
                      - rule: self.port != 22 || self.protocol == 'TCP'
                        message: port 22 needs TCP
`, section, i)
	}
	body, err := yaml.YAMLToJSON(bytes.TrimSpace([]byte(text.String())))
	if err != nil {
		b.Fatal(err)
	}
	return body
}
