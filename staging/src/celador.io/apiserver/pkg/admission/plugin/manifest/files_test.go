// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	upstream "k8s.io/apiserver/pkg/admission/plugin/manifest"
	"k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	"celador.io/apiserver/pkg/admission/plugin/manifest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	m.Run()
}

// expect checks that the text of an error starts with want, or that there is no error if want is
// empty.
func expect(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// join concatenates documents. It returns an error for the document "bad".
func join(documents []upstream.FileDoc) (*string, error) {
	var texts []string
	for _, document := range documents {
		if string(document.Doc) == "bad" {
			return nil, errors.New("bad document in " + document.FilePath)
		}
		texts = append(texts, string(document.Doc))
	}
	return new(strings.Join(texts, " ")), nil
}

// write replaces a file atomically.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	temporary := filepath.Join(t.TempDir(), name)
	if err := errors.Join(os.WriteFile(temporary, []byte(content), 0o600), os.Rename(temporary, filepath.Join(dir, name))); err != nil {
		t.Fatal(err)
	}
}

func optionsFor(t *testing.T, dir string) manifest.Options {
	return manifest.Options{Dir: dir, Plugin: metrics.VAPManifestType, ServerID: t.Name()}
}

// follow loads a directory and follows its changes until the test ends.
func follow(t *testing.T, dir string, interval time.Duration) *manifest.Files[string] {
	t.Helper()
	source, err := manifest.NewFiles(optionsFor(t, dir), join)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		source.Follow(ctx, interval)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return source
}

// eventually waits until a condition holds, for at most a minute.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return condition(), nil
	}); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// loads returns the number of loads with a status, and the hash of the loaded files.
func loads(t *testing.T, status string) (count float64, hash string) {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["plugin"] != "ValidatingAdmissionPolicy" {
				continue
			}
			switch family.GetName() {
			case "apiserver_manifest_admission_config_controller_automatic_reloads_total":
				if labels["status"] == status && strings.HasPrefix(labels["apiserver_id_hash"], "sha256:") {
					count += metric.GetCounter().GetValue()
				}
			case "apiserver_manifest_admission_config_controller_last_config_info":
				hash = labels["hash"]
			}
		}
	}
	return count, hash
}

func TestFollow(t *testing.T) {
	metrics.RegisterMetrics()
	metrics.ResetMetricsForTest()
	dir := t.TempDir()
	write(t, dir, "b.yaml", "one")
	source := follow(t, dir, time.Hour)
	if got := *source.Current(); got != "one" {
		t.Errorf("at first: got %q", got)
	}
	count, first := loads(t, "success")
	if count != 1 || !strings.HasPrefix(first, "sha256:") {
		t.Errorf("at first: %v loads, hash %q", count, first)
	}

	write(t, dir, "a.json", "zero")
	eventually(t, "second file", func() bool { return *source.Current() == "zero one" })
	eventually(t, "second file", func() bool { count, hash := loads(t, "success"); return count == 2 && hash != first })

	write(t, dir, "a.json", "bad")
	eventually(t, "failure", func() bool { count, _ := loads(t, "failure"); return count > 0 })
	if got := *source.Current(); got != "zero one" {
		t.Errorf("after a failure: got %q", got)
	}
	if count, hash := loads(t, "success"); count != 2 || hash == first {
		t.Errorf("after a failure: %v loads, hash %q", count, hash)
	}

	if err := os.Remove(filepath.Join(dir, "a.json")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "removed file", func() bool { return *source.Current() == "one" })
	eventually(t, "removed file", func() bool { count, hash := loads(t, "success"); return count == 3 && hash == first })
}

// A file with its old content, or a file with another extension, is no change.
func TestNoChange(t *testing.T) {
	metrics.RegisterMetrics()
	metrics.ResetMetricsForTest()
	dir := t.TempDir()
	write(t, dir, "a.yaml", "one")
	source := follow(t, dir, time.Millisecond)
	write(t, dir, "a.yaml", "bad")
	eventually(t, "failures", func() bool { count, _ := loads(t, "failure"); return count > 1 })
	write(t, dir, "a.yaml", "one")
	write(t, dir, "b.txt", "bad")
	// The source has seen the changes above before this change.
	write(t, dir, "c.yaml", "two")
	eventually(t, "another file", func() bool { return *source.Current() == "one two" })
	if count, _ := loads(t, "success"); count != 2 {
		t.Errorf("%v loads, want 2", count)
	}
}

// Watches of a directory do not report changes of the targets of its symbolic links.
func TestInterval(t *testing.T) {
	dir, targets := t.TempDir(), t.TempDir()
	write(t, targets, "target", "one")
	if err := os.Symlink(filepath.Join(targets, "target"), filepath.Join(dir, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	source := follow(t, dir, time.Millisecond)
	write(t, targets, "target", "two")
	eventually(t, "changed target", func() bool { return *source.Current() == "two" })
}

// A directory may be replaced as a whole.
func TestReplacedDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "manifests")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a.yaml", "one")
	source := follow(t, dir, time.Millisecond)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a.yaml", "two")
	eventually(t, "new directory", func() bool { return *source.Current() == "two" })
}

func TestFirstLoadFails(t *testing.T) {
	dir := t.TempDir()
	for want, prepare := range map[string]func(*manifest.Options){
		"bad document in ":                   func(*manifest.Options) { write(t, dir, "a.yaml", "bad") },
		"manifest directory path is empty":   func(o *manifest.Options) { o.Dir = "" },
		"failed to read manifest directory ": func(o *manifest.Options) { o.Dir = filepath.Join(dir, "nowhere") },
	} {
		options := optionsFor(t, dir)
		prepare(&options)
		source, err := manifest.NewFiles(options, join)
		expect(t, err, want)
		if source != nil {
			t.Errorf("%s: got a source", want)
		}
	}
}
