// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/offline/audit"
	"celador.io/offline/live"
	"celador.io/offline/manifest"
	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
)

// auditSources reads the policies and objects of an audit.
type auditSources struct {
	options *auditOptions
	// cluster is nil unless policies or objects come from a cluster, or reports go to it.
	cluster *live.Client
	// stdin returns the documents of standard input.
	stdin func() ([]*manifest.Document, error)
	// broken are the errors of files with objects to audit. The objects of other files are
	// evaluated nevertheless.
	broken []error
}

// stdinPath is the path that stands for standard input, as in kubectl.
const stdinPath = "-"

// readAll returns a function that returns the documents of standard input. The function reads them
// once and keeps them in memory, because the files of an audit may be read more than once.
func readAll(stdin io.Reader) func() ([]*manifest.Document, error) {
	return sync.OnceValues(func() ([]*manifest.Document, error) {
		data, err := io.ReadAll(stdin)
		if err != nil {
			return nil, err
		}
		return manifest.Parse("stdin", data)
	})
}

// each yields the documents of standard input, if it is among the paths, and then those of the
// files and directories, like manifest.Each. It leaves out test suites in directories, which often
// are beside the policies that they test.
func (s *auditSources) each(paths []string) iter.Seq2[*manifest.Document, error] {
	return func(yield func(*manifest.Document, error) bool) {
		if slices.Contains(paths, stdinPath) {
			documents, err := s.stdin()
			if err != nil && !yield(nil, err) {
				return
			}
			for document, err := range manifest.Items(documents) {
				if !yield(document, err) {
					return
				}
			}
		}
		var files []string
		found := map[string]bool{} // in a directory
		for _, path := range slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return path == stdinPath }) {
			named, err := manifest.Files(path)
			if err != nil && !yield(nil, err) {
				return
			}
			if len(named) == 1 && named[0] == filepath.Clean(path) {
				files = append(files, named...)
				continue
			}
			for _, file := range named {
				if !suites.IsForeign(file) {
					files, found[file] = append(files, file), true
				}
			}
		}
		for document, err := range manifest.Each(files...) {
			if err == nil && found[document.Position("").File] && suite.IsSuite(document) {
				continue
			}
			if !yield(document, err) {
				return
			}
		}
	}
}

// located holds objects that were read from files. documents has, at the index of each object, the
// document that contains it, so that errors can name the file.
type located struct {
	documents []*manifest.Document
	objects   []*unstructured.Unstructured
}

// add adds an object, unless l has an equal one already: directories often contain the manifest of
// the same namespace several times.
func (l *located) add(document *manifest.Document, object *unstructured.Unstructured) {
	if !slices.ContainsFunc(l.objects, func(other *unstructured.Unstructured) bool { return reflect.DeepEqual(other, object) }) {
		l.documents, l.objects = append(l.documents, document), append(l.objects, object)
	}
}

// read adds the objects of documents for whose kinds keep returns true.
func (l *located) read(documents iter.Seq2[*manifest.Document, error], keep func(schema.GroupKind) bool) error {
	var errs []error
	for document, err := range documents {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		object, err := document.Object()
		if err != nil {
			errs = append(errs, err)
		} else if keep(object.GroupVersionKind().GroupKind()) {
			l.add(document, object)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return exitError{err, exitUnusable}
	}
	return nil
}

// auditor returns an auditor of the policies in files and in the cluster. It knows the namespaces,
// params and CustomResourceDefinitions that these policies read.
func (s *auditSources) auditor(ctx context.Context) (*audit.Auditor, error) {
	added, err := s.added()
	if err != nil {
		return nil, err
	}
	config := audit.Config{
		Backend: offlinebackend.KubeAPIServer, Added: added.objects, Select: s.options.selects, Namespace: *s.options.config.Namespace, MaxViolations: s.options.maxFindings, SinceBinding: s.options.sinceBinding,
	}
	if s.options.readsCluster() {
		if err := s.readCluster(ctx, &config); err != nil {
			return nil, unusable("%w", err)
		}
	}
	if err := s.readLookedUp(&config); err != nil {
		return nil, unusable("%w", err)
	}
	auditor, err := audit.New(ctx, config)
	if err != nil {
		return nil, exitError{suite.Locate(err, added.documents), exitUnusable}
	}
	return auditor, nil
}

// added returns the policies and bindings in files, and the namespaces, params and
// CustomResourceDefinitions that they read. The objects to audit may be among these.
func (s *auditSources) added() (*located, error) {
	added := &located{}
	if err := added.read(s.each(s.options.files), func(schema.GroupKind) bool { return true }); err != nil {
		return nil, err
	}
	others := map[schema.GroupKind]bool{}
	var exit exitError
	if errors.As(added.read(s.each(s.options.manifests), func(kind schema.GroupKind) bool {
		others[kind] = true
		return isRead(kind) || audit.IsPolicy(kind) && len(s.options.files) == 0
	}), &exit) {
		s.broken = manifest.Errors(exit.error)
	}
	needs, err := audit.NeedsOf(added.objects)
	if err != nil {
		return nil, unusable("%w", err)
	}
	// The files are read again only if they have params, so that not all objects are in memory.
	isParam := func(kind schema.GroupKind) bool { return others[kind] && !isRead(kind) && needs.ReadsParams(kind) }
	if slices.ContainsFunc(slices.Collect(maps.Keys(others)), isParam) {
		_ = added.read(s.each(s.options.manifests), isParam) // broken has the errors
	}
	return added, nil
}

// isRead reports whether an audit needs the objects of a kind besides policies, bindings and
// params: the kind is Namespace, which namespaceObject and namespace selectors read, or
// CustomResourceDefinition, whose schemas decode custom resources.
func isRead(kind schema.GroupKind) bool {
	return kind == corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind() || kind == apiextensionsv1.Kind("CustomResourceDefinition")
}

// readCluster adds the objects of the cluster that the audit needs in addition to the objects to
// audit: policies and bindings, unless only those of files are wanted, and the namespaces, params,
// CustomResourceDefinitions and looked up objects that these policies and those in files read.
func (s *auditSources) readCluster(ctx context.Context, config *audit.Config) error {
	var stored []*unstructured.Unstructured
	var err error
	if s.options.clusterPolicies || len(s.options.files)+len(s.options.manifests) == 0 {
		if stored, err = s.cluster.Policies(ctx); err != nil {
			return err
		}
	}
	needs, err := audit.NeedsOf(slices.Concat(stored, config.Added))
	if err != nil {
		return err
	}
	namespaces, err := s.cluster.Namespaces(ctx)
	if err != nil {
		return err
	}
	params, err := s.cluster.Params(ctx, needs.ParamKinds()...)
	if err != nil {
		return err
	}
	definitions, err := s.cluster.CRDs(ctx, func(group, name, plural string) bool {
		kind := schema.GroupKind{Group: group, Kind: name}
		return needs.ReadsParams(kind) || needs.LooksUp(kind) || needs.Matches(schema.GroupResource{Group: group, Resource: plural})
	})
	if err != nil {
		return err
	}
	config.Stored = slices.Concat(stored, namespaces, params, definitions)
	var lookedUp []*unstructured.Unstructured
	lookedUp, config.Unlisted = s.cluster.LookedUp(ctx, needs.LookupKinds()...)
	for _, object := range lookedUp {
		config.LookedUp = append(config.LookedUp, audit.Object{Unstructured: object})
	}
	return nil
}

// readLookedUp adds the objects to audit in files that policies look up.
func (s *auditSources) readLookedUp(config *audit.Config) error {
	needs, err := audit.NeedsOf(slices.Concat(config.Stored, config.Added))
	if err != nil || len(needs.LookupKinds()) == 0 {
		return err
	}
	for document, err := range s.each(s.options.manifests) {
		if err != nil {
			continue // broken has the error
		}
		if object, err := document.Object(); err == nil && needs.LooksUp(object.GroupVersionKind().GroupKind()) {
			config.LookedUp = append(config.LookedUp, audit.Object{Unstructured: object, Position: document.Position("")})
		}
	}
	return nil
}

// objects yields the objects to audit.
func (s *auditSources) objects(ctx context.Context, auditor *audit.Auditor, selector labels.Selector) iter.Seq2[audit.Object, error] {
	if len(s.options.manifests) == 0 {
		return s.liveObjects(ctx, auditor)
	}
	return func(yield func(audit.Object, error) bool) {
		for document, err := range s.each(s.options.manifests) {
			object := audit.Object{}
			if err == nil {
				object.Position = document.Position("")
				object.Unstructured, err = document.Object()
			}
			if err != nil {
				err = &audit.UnreadError{Err: err}
			} else if !isObject(object.Unstructured, selector) {
				continue
			}
			if !yield(object, err) {
				return
			}
		}
	}
}

// isObject reports whether an object of a file is to be audited. Policies and bindings are not, nor
// objects that the selector does not match.
func isObject(object *unstructured.Unstructured, selector labels.Selector) bool {
	return !audit.IsPolicy(object.GroupVersionKind().GroupKind()) && selector.Matches(labels.Set(object.GetLabels()))
}

// nothingMatches is called after an audit that evaluated no object. It returns an error if no
// policy can match the objects of the files or the resources that the cluster serves, because a
// misspelled rule would look like a success. An audit that --selector or --namespace narrows down
// may find no object, and so may the audit of an empty cluster.
func (s *auditSources) nothingMatches(auditor *audit.Auditor) error {
	if s.options.selector != "" || *s.options.config.Namespace != "" {
		return nil
	}
	if len(s.options.manifests) > 0 {
		return unusable("no object was evaluated: no policy matches the resource of an object of the files")
	}
	served, err := s.cluster.Serves(s.selection(auditor))
	if err != nil {
		return unusable("%w", err)
	}
	if !served {
		return unusable("no object was evaluated: the cluster serves no resource that a policy matches")
	}
	return nil
}

// selection returns the filter by which the objects of the cluster are listed.
func (s *auditSources) selection(auditor *audit.Auditor) live.Filter {
	return live.Filter{Resource: auditor.Matches, Namespace: *s.options.config.Namespace, Labels: s.options.selector}
}

// liveObjects yields the objects of the cluster whose resources policies may match. The error of a
// resource that cannot be read becomes an audit.UnreadError.
func (s *auditSources) liveObjects(ctx context.Context, auditor *audit.Auditor) iter.Seq2[audit.Object, error] {
	return func(yield func(audit.Object, error) bool) {
		for object, err := range s.cluster.Objects(ctx, s.selection(auditor)) {
			var unreadable *live.ResourceError
			if errors.As(err, &unreadable) {
				err = &audit.UnreadError{Err: err}
			}
			if !yield(audit.Object{Unstructured: object}, err) {
				return
			}
		}
	}
}
