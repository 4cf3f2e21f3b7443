// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// browserTimeout is the longest time that the page may take to show something.
const browserTimeout = 20 * time.Second

// A browser is a tab of a headless Chromium.
type browser struct {
	tab     context.Context
	console iter.Seq2[chromedp.ConsoleMessage, error]
}

// openBrowser starts Chromium, which ends with the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("Chromium is missing: run hack/install-chromium.sh")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	tab, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(tab); err != nil {
		t.Fatalf("cannot start %s: %v", path, err)
	}
	return &browser{tab: tab, console: chromedp.Console(tab)}
}

// perform returns the result of an action on the page, and stops the test if the action does not
// succeed.
func perform[T any](t *testing.T, b *browser, action chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.tab, browserTimeout)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatalf("%v. The page shows:\n%s", err, b.text())
	}
	return result
}

// evaluate returns the value of an expression in JavaScript.
func evaluate[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	return perform(t, b, chromedp.Evaluate[T](expression))
}

// text returns the text of the page.
func (b *browser) text() string {
	text, err := chromedp.Run(b.tab, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

func (b *browser) open(t *testing.T, address string) {
	t.Helper()
	// The blank page makes the browser load a page of which only the fragment differs.
	perform(t, b, chromedp.Steps(chromedp.Navigate("about:blank"), chromedp.Navigate(address)))
}

// see waits until the element with the given ID shows text.
func (b *browser) see(t *testing.T, id, text string) {
	t.Helper()
	perform(t, b, chromedp.WaitVisible(fmt.Sprintf(`//*[@id=%q][contains(., %q)]`, id, text)))
}

// settle waits until the results are those of the input.
func (b *browser) settle(t *testing.T) {
	t.Helper()
	perform(t, b, chromedp.WaitVisible(chromedp.CSS(`#results[aria-busy="false"]`)))
}

func (b *browser) click(t *testing.T, id string) {
	t.Helper()
	perform(t, b, chromedp.Click(chromedp.ID(id)))
}

// focus focuses the first element that a CSS selector finds.
func (b *browser) focus(t *testing.T, selector string) {
	t.Helper()
	perform(t, b, chromedp.Focus(chromedp.CSS(selector)))
}

func (b *browser) press(t *testing.T, key string, modifiers ...chromedp.Modifier) {
	t.Helper()
	perform(t, b, chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
}

// insert inserts text at the cursor.
func (b *browser) insert(t *testing.T, text string) {
	t.Helper()
	perform(t, b, func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return chromedp.Void{}, err
	})
}

// look shows the page in a window of the given size, in a colour scheme: light or dark.
func (b *browser) look(t *testing.T, scheme string, width, height int64) {
	t.Helper()
	perform(t, b, chromedp.EmulateViewport(width, height))
	perform(t, b, func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"}, // screenshots show no transitions
			},
		})
		return chromedp.Void{}, err
	})
}

// screenshot writes a picture of the whole page to a file of the directory _output.
func (b *browser) screenshot(t *testing.T, name string) {
	t.Helper()
	picture := perform(t, b, chromedp.FullScreenshot(100))
	directory := filepath.Join("..", "..", "_output", "playground")
	if err := os.MkdirAll(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkConsole fails the test for each uncaught exception and each error that the browser logged,
// such as a violation of the Content-Security-Policy. Errors with one of the expected texts are
// none. It is called once, at the end.
func (b *browser) checkConsole(t *testing.T, expected ...string) {
	t.Helper()
	const end = "end of the test"
	perform(t, b, chromedp.Evaluate[chromedp.Void](fmt.Sprintf("console.log(%q)", end)))
	for message, err := range b.console {
		switch {
		case err != nil:
			t.Fatal(err)
		case message.Text == end:
			return
		case slices.ContainsFunc(expected, func(text string) bool { return strings.Contains(message.Text, text) }):
		case message.IsException() || message.Type == chromedp.ConsoleError:
			t.Errorf("the browser logged an error: %v", message)
		}
	}
}
