// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"celador.io/offline/playground"
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

// TestPlaygroundInBrowser uses the page as a policy author does. Its parts follow one another on
// the same page.
func TestPlaygroundInBrowser(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	handler, err := newPlayground(server.Listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	failing := &failingEvaluations{next: handler}
	server.Config.Handler = failing
	server.Start()
	t.Cleanup(server.Close)
	page := openBrowser(t)

	for _, part := range []struct {
		name string
		test func(*testing.T, *browser, string)
	}{
		{"example", testPlaygroundExample},
		{"width", testPlaygroundWidth},
		{"typing", testPlaygroundTyping},
		{"problems", testPlaygroundProblems},
		{"keyboard", testPlaygroundKeyboard},
		{"links", testPlaygroundLinks},
		{"many", testPlaygroundMany},
		{"long panes", testPlaygroundLongPanes},
		{"warnings", testPlaygroundWarnings},
		{"drafts", testPlaygroundDrafts},
		{"failures", failing.test},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.test(t, page, server.URL) }) {
			return
		}
	}
	page.checkConsole(t, "a status of 413", "a status of 429", "a status of 500")
}

// failingEvaluations is the handler of the page, which fails some evaluations.
type failingEvaluations struct {
	next http.Handler
	// busy and broken are the numbers of the next evaluations that are answered with 429 and then
	// with 500.
	busy, broken atomic.Int32
}

func (f *failingEvaluations) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/api/evaluate":
	case f.busy.Add(-1) >= 0:
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"message": "the server has no time"}`))
		return
	case f.broken.Add(-1) >= 0:
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"message": "the server is broken"}`))
		return
	}
	f.next.ServeHTTP(w, r)
}

// The page says why there is no answer, shows no old one, and tries again if the server is busy.
func (f *failingEvaluations) test(t *testing.T, page *browser, address string) {
	page.open(t, address)
	page.see(t, "decision", "Denied")
	f.broken.Store(1)
	edit(t, page, "object", "\n# 1")
	page.see(t, "decision", "the server is broken")
	if evaluate[bool](t, page, "document.getElementById('results').innerText !== '' || document.getElementById('results').ariaBusy === 'true'") {
		t.Error("the page shows results of another input")
	}
	f.busy.Store(2)
	edit(t, page, "object", "\n# 2")
	page.see(t, "decision", "the server has no time. The page tries again by itself.")
	page.see(t, "decision", "Denied")
	page.see(t, "status", "failed expression")
}

// The page starts with an example and explains the decision about it.
func testPlaygroundExample(t *testing.T, page *browser, address string) {
	page.look(t, "light", 1440, 1000)
	page.open(t, address)
	page.see(t, "decision", "Denied")
	page.see(t, "status", "failed expression: object.spec.replicas <= 5")
	page.see(t, "expressions", "object.spec.replicas is 6")
	page.screenshot(t, "light")
	readable(t, page)
	page.look(t, "dark", 1440, 1000)
	page.screenshot(t, "dark")
	readable(t, page)
	page.look(t, "light", 390, 844)
	page.screenshot(t, "narrow")
	page.look(t, "light", 1440, 1000)
}

// testPlaygroundWidth checks that the page scrolls only up and down, with each example and on
// phones, too.
func testPlaygroundWidth(t *testing.T, page *browser, _ string) {
	names := evaluate[[]string](t, page, "[...document.getElementById('example').options].map((o) => o.value).filter(Boolean)")
	if len(names) < 3 {
		t.Fatalf("the page has only the examples %q", names)
	}
	for _, name := range names {
		choose(t, page, name)
		page.settle(t)
		for _, width := range []int64{320, 390, 640, 960, 1440} {
			page.look(t, "light", width, 844)
			if got := evaluate[[]string](t, page, tooWide); len(got) > 0 {
				t.Errorf("example %s: wider than %d pixels:\n%s", name, width, strings.Join(got, "\n"))
			}
		}
	}
	page.look(t, "light", 1440, 1000)
	choose(t, page, names[0])
	page.settle(t)
}

// tooWide returns the elements beyond the right edge of a page that scrolls sideways.
const tooWide = `document.documentElement.scrollWidth <= document.documentElement.clientWidth ? [] :
	[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth)
	.map((e) => e.outerHTML.slice(0, 100) + " " + e.getBoundingClientRect().right)`

// The page tells how many entries of a long list it leaves out.
func testPlaygroundMany(t *testing.T, page *browser, address string) {
	panes := playground.Panes{Policy: typedPolicy, Binding: typedBinding, Object: typedObject, Manifests: strings.Repeat("a: 1\n---\n", 600)}
	page.open(t, address+"/"+fragment(t, panes))
	page.see(t, "problems", "and 100 more")
}

// Panes out of view have no lines on the page, so that long texts do not stop it. Undo brings the
// text before an example back, and only the text of the last one if examples follow each other at
// once.
func testPlaygroundLongPanes(t *testing.T, page *browser, address string) {
	panes := playground.Panes{Policy: typedPolicy, Binding: strings.Repeat("# long\n", 50_000), Object: typedObject, Manifests: strings.Repeat("# long\n", 50_000)}
	page.open(t, address+"/"+fragment(t, panes))
	page.settle(t)
	if got := evaluate[int](t, page, "document.querySelectorAll('#editors *').length"); got > 5000 {
		t.Errorf("the editors have %d elements", got)
	}
	choose(t, page, "singleton")
	choose(t, page, "replica-limit")
	page.see(t, "panel-object", "replicas: 6")
	focusEditor(t, page, "policy")
	page.press(t, "z", chromedp.ModifierCtrl)
	page.see(t, "panel-policy", "policyType: Singleton")
	page.press(t, "z", chromedp.ModifierCtrl)
	page.see(t, "panel-policy", "owner.example.com")
}

// fragment returns the fragment of a link to panes, with a feature gate.
func fragment(t *testing.T, panes playground.Panes) string {
	t.Helper()
	text, err := json.Marshal(playground.PageState{Panes: panes, FeatureGates: map[string]bool{"AdmissionPolicyTypeEnforcement": false}})
	if err != nil {
		t.Fatal(err)
	}
	var deflated bytes.Buffer
	writer := zlib.NewWriter(&deflated)
	if _, err := writer.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return "#v1=" + base64.RawURLEncoding.EncodeToString(deflated.Bytes())
}

// A policy that only warns admits the request, and the page does not call it denied.
func testPlaygroundWarnings(t *testing.T, page *browser, address string) {
	page.open(t, address+"/")
	write(t, page, map[string]string{
		"policy":    typedPolicy,
		"binding":   strings.Replace(typedBinding, "Deny", "Warn", 1),
		"object":    typedObject,
		"params":    "",
		"manifests": "",
	})
	page.see(t, "decision", "Allowed, with a warning")
	page.see(t, "policies", "Warned")
	page.screenshot(t, "warned")
	readable(t, page)
	page.look(t, "dark", 390, 844)
	page.screenshot(t, "warned-narrow-dark")
	readable(t, page)
	page.look(t, "light", 1440, 1000)
	write(t, page, map[string]string{"binding": strings.Replace(typedBinding, "Deny", "Audit", 1)})
	page.see(t, "policies", "Audited")
	page.see(t, "decision", "Allowed")
	if text := evaluate[string](t, page, "document.getElementById('answer').innerText"); strings.Contains(text, "Denied") || strings.Contains(text, "with a warning") {
		t.Errorf("the page shows of an admitted request:\n%s", text)
	}
	failing := strings.Replace(typedPolicy, "expression: has(object.metadata.labels)", "expression: object.absent", 1) + "  failurePolicy: Ignore\n"
	write(t, page, map[string]string{"policy": failing, "binding": typedBinding})
	page.see(t, "policies", "Ignored")
	page.see(t, "decision", "Allowed")
}

// Neither a reload nor an example discards what the user has written.
func testPlaygroundDrafts(t *testing.T, page *browser, address string) {
	page.open(t, address+"/")
	page.see(t, "notice", "Your changes are back")
	choose(t, page, "replica-limit")
	page.see(t, "question", "replaces your changes")
	page.click(t, "question-yes")
	page.see(t, "panel-object", "replicas: 6")

	// The time is too short for an evaluation.
	edit(t, page, "object", "\n# mine")
	evaluate[bool](t, page, "document.getElementById('feature-gates').value = 'half a gate', document.getElementById('feature-gates').dispatchEvent(new Event('input'))")
	perform(t, page, chromedp.Reload())
	page.see(t, "notice", "Your changes are back")
	page.see(t, "panel-object", "# mine")
	page.see(t, "decision", "half a gate")

	choose(t, page, "singleton")
	page.see(t, "question", "replaces your changes")
	page.screenshot(t, "question")
	readable(t, page)
	page.press(t, kb.Enter)
	perform(t, page, chromedp.WaitNotPresent(chromedp.CSS("#question")))
	page.see(t, "panel-object", "# mine")
	choose(t, page, "singleton")
	page.see(t, "question", "replaces your changes")
	page.press(t, kb.Escape)
	perform(t, page, chromedp.WaitNotPresent(chromedp.CSS("#question")))
	page.see(t, "panel-object", "# mine")
	if got := evaluate[string](t, page, "document.getElementById('example').value"); got != "" {
		t.Errorf("the page calls the user's changes the example %q", got)
	}

	choose(t, page, "singleton")
	page.click(t, "question-yes")
	page.see(t, "panel-policy", "policyType: Singleton")
	perform(t, page, chromedp.Reload())
	page.see(t, "panel-object", "replicas: 6") // no change, and so the first example
	choose(t, page, "singleton")
	page.see(t, "panel-policy", "policyType: Singleton")
}

// choose selects an example.
func choose(t *testing.T, page *browser, name string) {
	t.Helper()
	evaluate[bool](t, page, "document.getElementById('example').value = '"+name+"', document.getElementById('example').dispatchEvent(new Event('change'))")
}

// write replaces the texts of panes.
func write(t *testing.T, page *browser, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		focusEditor(t, page, name)
		page.press(t, "a", chromedp.ModifierCtrl)
		if text == "" {
			page.press(t, kb.Delete)
		} else {
			page.insert(t, text)
		}
	}
}

// A policy that the user types denies an object, and admits it after a change.
func testPlaygroundTyping(t *testing.T, page *browser, _ string) {
	write(t, page, map[string]string{"policy": typedPolicy, "binding": typedBinding, "object": typedObject, "manifests": ""})
	page.see(t, "status", "every ConfigMap has an owner")
	page.see(t, "decision", "Denied")

	edit(t, page, "object", typedLabels)
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
	page.press(t, kb.Tab)
	focused(t, page, "panel-object")
	page.press(t, kb.Escape)
	page.press(t, kb.Tab)
	focused(t, page, "answer")
	for range 2 {
		page.press(t, kb.Tab, chromedp.ModifierShift)
	}
	focused(t, page, "tab-object")

	page.focus(t, "#example")
	page.press(t, kb.Tab)
	focused(t, page, "feature-gates")
	page.press(t, kb.Tab)
	focused(t, page, "share")
	if got := evaluate[[]string](t, page, unlabelled); len(got) > 0 {
		t.Errorf("without a label: %q", got)
	}
}

// unlabelled returns the tags of controls without a name for screen readers.
const unlabelled = `[...document.querySelectorAll("button, input, select, summary, [role=textbox], [role=region], [role=tablist], [role=tabpanel]")]
	.filter((e) => !(e.labels?.length || e.ariaLabel || document.getElementById(e.getAttribute("aria-labelledby")) || e.innerText.trim() || e.textContent.trim()))
	.map((e) => e.outerHTML.slice(0, 100))`

// readable checks that the contrast of all visible text with its background is at least 4.5, the
// level AA of WCAG 2.
func readable(t *testing.T, page *browser) {
	t.Helper()
	got := evaluate[[]string](t, page, lowContrast)
	if slices.Sort(got); len(got) > 0 {
		t.Errorf("too little contrast:\n%s", strings.Join(slices.Compact(got), "\n"))
	}
}

// lowContrast returns the texts with less contrast, and their colours.
const lowContrast = `(() => {
	const parse = (colour) => { const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number); return { c: [r, g, b], a }; };
	const over = (top, below) => top.c.map((v, i) => v * top.a + below[i] * (1 - top.a));
	const background = (e) => e === null ? [255, 255, 255] : over(parse(getComputedStyle(e).backgroundColor), background(e.parentElement));
	const luminance = (c) => c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const found = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const text = walker.currentNode, e = text.parentElement;
		if (text.data.trim() === "" || !e.checkVisibility() || e.closest("noscript, option")) continue;
		const below = background(e), above = over(parse(getComputedStyle(e).color), below);
		const [dark, light] = [luminance(below), luminance(above)].sort((a, b) => a - b);
		const ratio = (light + 0.05) / (dark + 0.05);
		if (ratio < 4.5) found.push(ratio.toFixed(2) + " " + e.tagName + "." + e.className + " " + text.data.slice(0, 40) + " " + getComputedStyle(e).color + " on " + below);
	}
	return found;
})()`

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

	// A reload keeps changes.
	edit(t, page, "object", "\n# changed")
	page.see(t, "notice", "The address has your changes.")
	changed := evaluate[string](t, page, "location.href")
	if changed == link {
		t.Fatal("the address does not have the change")
	}
	page.open(t, changed)
	page.see(t, "panel-object", "# changed")

	// A link carries no more than the server evaluates.
	focusEditor(t, page, "params")
	page.insert(t, "# "+strings.Repeat("a", 1<<20))
	page.see(t, "notice", "more than 1 MiB")
	page.see(t, "decision", "more than 1048576 bytes")
	page.click(t, "share")
	page.see(t, "notice", "more than 1 MiB")
	if got := evaluate[string](t, page, "location.href"); got != address+"/" {
		t.Errorf("the address is %.100s", got)
	}
	choose(t, page, "replica-limit")
	page.click(t, "question-yes")
	page.see(t, "panel-object", "replicas: 6")

	for _, fragment := range []string{strings.TrimPrefix(link, address+"/")[:40], "#nonsense"} {
		page.open(t, address+"/"+fragment)
		page.see(t, "notice", "The link")
		page.see(t, "decision", "Denied")
	}
}

// edit inserts text at the end of a pane.
func edit(t *testing.T, page *browser, pane, text string) {
	t.Helper()
	focusEditor(t, page, pane)
	page.press(t, kb.End, chromedp.ModifierCtrl)
	page.insert(t, text)
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
