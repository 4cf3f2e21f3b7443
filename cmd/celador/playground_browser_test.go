// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	typedPolicy = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: owner.example.com
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: ["v1"]
      operations: ["CREATE"]
      resources: ["configmaps"]
  validations:
  - expression: has(object.metadata.labels) && 'owner' in object.metadata.labels
    message: every ConfigMap has an owner
`
	typedBinding = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: owner.example.com
spec:
  policyName: owner.example.com
  validationActions: ["Deny"]
`
	typedObject = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: default`
	typedLabels = "\n  labels: {owner: shop}"
)

// TestPlaygroundInBrowser uses the page as a policy author does. Its parts follow one another on the same page.
func TestPlaygroundInBrowser(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	handler, err := newPlayground(server.Listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(server.Close)
	page := openBrowser(t)

	for _, part := range []struct {
		name string
		test func(*testing.T, *browser, string)
	}{
		{"example", testPlaygroundExample},
		{"typing", testPlaygroundTyping},
		{"problems", testPlaygroundProblems},
		{"keyboard", testPlaygroundKeyboard},
		{"links", testPlaygroundLinks},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.test(t, page, server.URL) }) {
			return
		}
	}
	page.checkConsole(t)
}

// The page starts with an example and explains the decision about it.
func testPlaygroundExample(t *testing.T, page *browser, address string) {
	page.look(t, "light", 1440, 1000)
	page.open(t, address)
	page.see(t, "decision", "Denied")
	page.see(t, "status", "failed expression: object.spec.replicas <= 5")
	page.see(t, "expressions", "object.spec.replicas is 6")
	page.screenshot(t, "light")
	page.look(t, "dark", 1440, 1000)
	page.screenshot(t, "dark")
	page.look(t, "light", 420, 900)
	page.screenshot(t, "narrow")
	page.look(t, "light", 1440, 1000)
}

// A policy that the user types denies an object, and admits it after a change.
func testPlaygroundTyping(t *testing.T, page *browser, _ string) {
	for _, pane := range []struct{ name, text string }{
		{"policy", typedPolicy}, {"binding", typedBinding}, {"object", typedObject}, {"manifests", ""},
	} {
		focusEditor(t, page, pane.name)
		page.press(t, "a", chromedp.ModifierCtrl)
		if pane.text == "" {
			page.press(t, kb.Delete)
		} else {
			page.insert(t, pane.text)
		}
	}
	page.see(t, "status", "every ConfigMap has an owner")
	page.see(t, "decision", "Denied")

	focusEditor(t, page, "object")
	page.press(t, kb.End, chromedp.ModifierCtrl)
	page.insert(t, typedLabels)
	page.see(t, "decision", "Allowed")
}

// Enter on a problem leads to its line.
func testPlaygroundProblems(t *testing.T, page *browser, _ string) {
	focusEditor(t, page, "binding")
	page.press(t, kb.Home, chromedp.ModifierCtrl)
	page.insert(t, "none: 1\n")
	page.see(t, "problems", "Binding, line 1")
	page.see(t, "decision", "Not usable")
	page.see(t, "tab-binding", "1 problem")
	page.click(t, "tab-policy")
	page.focus(t, "#problems button")
	page.press(t, kb.Enter)
	focused(t, page, "panel-binding")
	page.press(t, "z", chromedp.ModifierCtrl)
	page.see(t, "decision", "Allowed")
}

// Every tab is within reach of the keyboard, and so is the way out of an editor.
func testPlaygroundKeyboard(t *testing.T, page *browser, _ string) {
	page.focus(t, "#share")
	page.press(t, kb.Tab)
	focused(t, page, "tab-binding")
	page.press(t, kb.ArrowRight)
	focused(t, page, "tab-params")
	page.press(t, kb.Home)
	focused(t, page, "tab-policy")
	page.press(t, kb.ArrowLeft)
	page.press(t, kb.ArrowRight)
	focused(t, page, "tab-policy")
	page.see(t, "panel-policy", "owner.example.com")
	page.press(t, kb.Tab)
	focused(t, page, "panel-policy")
	page.press(t, kb.Escape)
	page.press(t, kb.Tab)
	focused(t, page, "tab-object")
}

// A link has the state of the page. A damaged one is refused with a message.
func testPlaygroundLinks(t *testing.T, page *browser, address string) {
	page.click(t, "share")
	page.see(t, "notice", "ink")
	link := evaluate[string](t, page, "location.href")
	if !strings.HasPrefix(link, address+"/#v1=") {
		t.Fatalf("the link is %s", link)
	}
	page.open(t, link)
	page.see(t, "decision", "Allowed")
	page.see(t, "panel-policy", "every ConfigMap has an owner")

	for _, fragment := range []string{strings.TrimPrefix(link, address+"/")[:40], "#nonsense"} {
		page.open(t, address+"/"+fragment)
		page.see(t, "notice", "The link")
		page.see(t, "decision", "Denied")
	}
}

// focusEditor shows the editor of a pane and puts the cursor into it.
func focusEditor(t *testing.T, page *browser, pane string) {
	t.Helper()
	page.click(t, "tab-"+pane)
	page.focus(t, "#panel-"+pane+" .cm-content")
}

// focused checks that the element with the given ID has the focus, or something in it.
func focused(t *testing.T, page *browser, id string) {
	t.Helper()
	if !evaluate[bool](t, page, "document.getElementById('"+id+"').contains(document.activeElement)") {
		t.Fatalf("%s has the focus, not %s", evaluate[string](t, page, "document.activeElement.outerHTML.slice(0, 200)"), id)
	}
}
