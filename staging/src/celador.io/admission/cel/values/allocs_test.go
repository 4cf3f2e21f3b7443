// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"sync"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"celador.io/admission/cel/values"
)

func keysOf(names ...any) []ref.Val {
	var keys []ref.Val
	for _, name := range names {
		keys = append(keys, types.DefaultTypeAdapter.NativeToValue(name))
	}
	return keys
}

// readPath selects one key after the other.
func readPath(v ref.Val, keys []ref.Val) ref.Val {
	for _, key := range keys {
		v = v.(traits.Indexer).Get(key)
	}
	return v
}

func TestReadAgain(t *testing.T) {
	root := values.Of(deployment())
	for name, keys := range map[string][]ref.Val{
		"number":         keysOf("spec", "replicas"),
		"text":           keysOf("spec", "template", "spec", "containers", 1, "image"),
		"label":          keysOf("metadata", "labels", "team"),
		"quantity":       keysOf("spec", "template", "spec", "containers", 0, "resources", "limits", "cpu"),
		"time":           keysOf("metadata", "creationTimestamp"),
		"struct":         keysOf("spec", "template", "spec"),
		"list":           keysOf("spec", "template", "spec", "volumes"),
		"int or string":  keysOf("spec", "template", "spec", "containers", 2, "livenessProbe", "httpGet", "port"),
		"empty struct":   keysOf("spec", "template", "spec", "securityContext"),
		"named text":     keysOf("spec", "template", "spec", "containers", 0, "ports", 0, "protocol"),
		"of other lists": keysOf("spec", "template", "spec", "containers", 0, "securityContext", "capabilities", "drop", 0),
	} {
		first := readPath(root, keys)
		if types.IsError(first) {
			t.Errorf("%s: %v", name, first)
		}
		if readPath(root, keys) != first {
			t.Errorf("%s: the second reading returns another value", name)
		}
		if n := testing.AllocsPerRun(100, func() { readPath(root, keys) }); n != 0 {
			t.Errorf("%s: reading again allocates %v times", name, n)
		}
	}
}

func TestAskAgain(t *testing.T) {
	root := values.Of(deployment())
	spec := readPath(root, keysOf("spec")).(traits.Mapper)
	labels := readPath(root, keysOf("metadata", "labels")).(traits.Mapper)
	containers := readPath(root, keysOf("spec", "template", "spec", "containers")).(traits.Lister)
	var replicas, paused, team, none ref.Val = types.String("replicas"), types.String("paused"), types.String("team"), types.String("none")
	for name, ask := range map[string]func(){
		"field that is there":     func() { spec.Find(replicas) },
		"field that is omitted":   func() { spec.Find(paused) },
		"field that is not":       func() { spec.Find(none) },
		"presence of a field":     func() { spec.(traits.FieldTester).IsSet(replicas) },
		"label that is there":     func() { labels.Contains(team) },
		"label that is not":       func() { labels.Contains(none) },
		"label that is not found": func() { labels.Find(none) },
		"size of a struct":        func() { spec.Size() },
		"size of a map":           func() { labels.Size() },
		"size of a list":          func() { containers.Size() },
	} {
		if n := testing.AllocsPerRun(100, ask); n != 0 {
			t.Errorf("%s: asking again allocates %v times", name, n)
		}
	}
	for name, of := range map[string]traits.Iterable{"struct": spec, "map": labels, "list": containers} {
		again := func() {
			for it := of.Iterator(); it.HasNext() == types.True; {
				it.Next()
			}
		}
		if n := testing.AllocsPerRun(100, again); n > 1 {
			t.Errorf("%s: iterating again allocates %v times, want the iterator alone", name, n)
		}
	}
}

// TestNotCopied checks that views return parts of the object instead of copies.
func TestNotCopied(t *testing.T) {
	object := deployment()
	labels := readPath(values.Of(object), keysOf("metadata", "labels")).Value().(map[string]string)
	labels["new"] = "label"
	if object.Labels["new"] != "label" {
		t.Error("labels were copied")
	}
}

// TestConcurrently reads an object of a new type in many goroutines, each with its own view.
func TestConcurrently(t *testing.T) {
	type tree struct {
		Name        string            `json:"name"`
		Left, Right *tree             `json:",omitempty"`
		Others      map[string][]tree `json:"others"`
	}
	object := tree{Left: &tree{Others: map[string][]tree{"a": {{}, {Name: "found"}}}}}
	keys := keysOf("Left", "others", "a", 1, "name")
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if got := readPath(values.Of(&object), keys); got != types.String("found") {
				t.Errorf("got %v", got)
			}
		})
	}
	group.Wait()
}
