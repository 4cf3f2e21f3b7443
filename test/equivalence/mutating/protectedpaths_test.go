// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
)

// protectedPaths are the paths of the identity of an object and of the objects above.
var protectedPaths = []string{"/kind", "/apiVersion", "/metadata/name", "/metadata/namespace", "/metadata", ""}

// protectedValues are values for these paths: other kinds and versions, registered ones and unknown
// ones, and values of wrong types.
var protectedValues = []string{
	"'Pod'", "'StatefulSet'", "'Gadget'", "'v1'", "'apps/v1beta1'", "'extensions/v1beta1'", "'example.com/v2'", "'other.example.com/v1'", "'a/b/c'", "'other'", "''", "1", "null", "[1]", "{}",
	"{'name': 'web'}", "{'name': 'other', 'namespace': 'red'}", "{'generateName': 'w-'}", "object", "object.metadata",
	"{'apiVersion': object.apiVersion, 'kind': object.kind}", "{'kind': 'Gadget', 'metadata': object.metadata}", "{'apiVersion': dyn('v1'), 'kind': dyn('Pod'), 'metadata': dyn(object.metadata)}",
}

// protectedPatches returns JSON patches that change the identity of an object with every operation.
func protectedPatches() []string {
	var patches []string
	for _, path := range protectedPaths {
		patches = append(patches,
			fmt.Sprintf("JSONPatch{op: 'remove', path: %q}", path),
			fmt.Sprintf("JSONPatch{op: 'move', from: %q, path: '/metadata/labels/moved'}", path),
			fmt.Sprintf("JSONPatch{op: 'copy', from: %q, path: '/metadata/labels/copied'}", path),
			fmt.Sprintf("JSONPatch{op: 'copy', from: '/metadata/labels/app', path: %q}", path),
			fmt.Sprintf("JSONPatch{op: 'move', from: '/metadata/labels', path: %q}", path),
			fmt.Sprintf("JSONPatch{op: 'move', from: '/spec', path: %q}", path),
			fmt.Sprintf("JSONPatch{op: 'remove', path: %q}, JSONPatch{op: 'add', path: '/spec/unknown', value: 1}", path))
		for _, value := range protectedValues {
			for _, op := range []string{"add", "replace", "test"} {
				patches = append(patches, fmt.Sprintf("JSONPatch{op: %q, path: %q, value: %s}", op, path, value))
			}
		}
	}
	return patches
}

// changesKind matches patches of the kind, the version or the root, which fail the request whatever
// failurePolicy is.
var changesKind = regexp.MustCompile(`path: "(/kind|/apiVersion)?"`)

// TestProtectedPaths compares the outcomes of JSON patches that change the identity of an object,
// for both failure policies. A request that Kubernetes' plugin fails fails here, too. Where the
// plugin leaves the changed identity to the registry, the patch fails here: it is not applied if
// failurePolicy ignores that.
func TestProtectedPaths(t *testing.T) {
	count := map[string]int{}
	for _, patch := range protectedPatches() {
		for _, changes := range [][]func(*spec){nil, {ignoring}, {ignoring, and(applying(one))}} {
			s := example{spec: with(patching("["+patch+"]"), changes...)}.scenario()
			synctest.Test(t, func(t *testing.T) {
				c := start(t, s)
				for _, name := range []string{"create", "create widget", "create pod", "update"} {
					r := fixed[name]
					ours, theirs := c.examine(t, c.celador, r), c.examine(t, c.upstream, r)
					celador, upstream := ours.last(), theirs.last()
					refused := mayNotChange.MatchString(celador.Error)
					switch {
					case refused:
						count["refused"]++
					case reflect.DeepEqual(celador, upstream):
						count["equal"]++
					case !changesKind.MatchString(patch) && c.explain(r, ours, theirs) == "invalid objects":
						count["invalid"]++
					case len(changes) > 0 && celador.Error+upstream.Error == "" && strings.Replace(celador.Object, `,"one":"1"`, "", 1) == encode(t, r, r.Object):
						count["ignored"]++
					default:
						t.Errorf("%s of %s with %d changes: %s\n%s, upstream %s\n%s", name, patch, len(changes), celador.Error, celador.Object, upstream.Error, upstream.Object)
					}
				}
			})
		}
	}
	t.Log(count)
	for _, outcome := range []string{"refused", "equal", "ignored", "invalid"} {
		if count[outcome] == 0 {
			t.Errorf("no outcome is %s", outcome)
		}
	}
}
