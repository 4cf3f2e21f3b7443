// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"errors"
	"fmt"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/celador/test/integration/testserver"
)

// requestsPerChange is how many writes and how many reads accompany each change of a definition.
const requestsPerChange = 4

// A life is that of one definition, from its creation to its deletion. It may be repeated.
type life struct {
	clients testserver.Clients
	store   *clientv3.Client
	group   string
	watches watchStatistics

	// versions are those that the server has served before, and therefore serves.
	versions []string
	// widget is the response to the latest write.
	widget *unstructured.Unstructured
}

// live returns the first violation of a promise of the API.
func (l *life) live(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	crd := &definition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + l.group}}
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: l.group, Scope: apiextensionsv1.NamespaceScoped,
		Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: counterSchema()}},
	}
	if _, err := definitions().Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the definition: %w", err)
	}
	if err := established(ctx, crd.Name); err != nil {
		return err
	}

	l.versions = []string{"v1"}
	client := in(l.clients, l.group, "v1")
	objects, err := client.List(ctx, metav1.ListOptions{})
	if err != nil || len(objects.Items) != 0 {
		return fmt.Errorf("list in a new definition: got %v, %w, want no objects", objects, err)
	}
	for _, object := range []string{"left", "used"} {
		if l.widget, err = client.Create(ctx, widget(l.group, "v1", object), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating %s: %w", object, err)
		}
	}
	w := watcher{client: client}
	watched := make(chan error, 1)
	go func() { watched <- w.run(ctx) }()
	err = l.use(ctx, crd.Name)
	if err != nil {
		cancel()
	}
	watchErr := <-watched
	l.watches.add(w.watchStatistics)
	if err == nil && watchErr != nil {
		err = fmt.Errorf("watch: %w", watchErr)
	}
	if err != nil {
		return err
	}
	return l.end(ctx, crd.Name)
}

// use changes the definition while it writes and reads object "used", and deletes the object.
func (l *life) use(ctx context.Context, name string) error {
	for _, step := range []struct {
		name   string
		change func(*definition)
	}{
		{"schema", func(crd *definition) {
			crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["added"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}},
		{"new version", func(crd *definition) {
			crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v2", Served: true, Schema: counterSchema()})
		}},
		{"storage version", func(crd *definition) {
			crd.Spec.Versions[0].Storage, crd.Spec.Versions[1].Storage = false, true
		}},
	} {
		if err := l.during(ctx, func() error { return update(ctx, name, step.change) }); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		if step.name == "new version" {
			// The server serves the version some time after the response.
			if err := eventually(ctx, func(ctx context.Context) error {
				_, err := in(l.clients, l.group, "v2").Get(ctx, "used", metav1.GetOptions{})
				return err
			}); err != nil {
				return err
			}
			l.versions = []string{"v1", "v2"}
		}
	}
	if err := l.during(ctx, func() error { return nil }); err != nil {
		return err
	}
	if err := in(l.clients, l.group, "v1").Delete(ctx, "used", metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting: %w", err)
	}
	return nil
}

// during writes and reads while it calls change.
func (l *life) during(ctx context.Context, change func() error) error {
	var changeErr, readErr error
	// Reads never see an older object.
	oldest := counter(l.widget)
	var running sync.WaitGroup
	running.Go(func() { changeErr = change() })
	running.Go(func() { readErr = l.read(ctx, oldest) })
	writeErr := l.write(ctx)
	running.Wait()
	return errors.Join(changeErr, readErr, writeErr)
}

func (l *life) write(ctx context.Context) error {
	for i := range requestsPerChange {
		version := l.versions[i%len(l.versions)]
		next := l.widget.DeepCopy()
		next.SetAPIVersion(l.group + "/" + version)
		want := counter(l.widget) + 1
		next.Object["spec"] = map[string]any{"counter": want}
		// Nobody else writes the object, so that a conflict would be a lost write.
		updated, err := in(l.clients, l.group, version).Update(ctx, next, metav1.UpdateOptions{})
		if err != nil {
			return fmt.Errorf("write %d in %s: %w", want, version, err)
		}
		if got := counter(updated); got != want || updated.GetAPIVersion() != next.GetAPIVersion() {
			return fmt.Errorf("write in %s: got %s with counter %d, want %d", version, updated.GetAPIVersion(), got, want)
		}
		l.widget = updated
	}
	return nil
}

func (l *life) read(ctx context.Context, oldest int64) error {
	for i := range requestsPerChange {
		version := l.versions[i/2%len(l.versions)]
		client, get := in(l.clients, l.group, version), i%2 == 0
		var object *unstructured.Unstructured
		var err error
		if get {
			object, err = client.Get(ctx, "used", metav1.GetOptions{})
		} else {
			object, err = last(client.List(ctx, metav1.ListOptions{}))
		}
		if err != nil {
			return fmt.Errorf("read in %s, get %t: %w", version, get, err)
		}
		if got := counter(object); got < oldest || object.GetAPIVersion() != l.group+"/"+version {
			return fmt.Errorf("read in %s, get %t: got %s with counter %d, want at least %d", version, get, object.GetAPIVersion(), got, oldest)
		}
		oldest = counter(object)
	}
	return nil
}

// last returns the last of two objects.
func last(objects *unstructured.UnstructuredList, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	if len(objects.Items) != 2 {
		return nil, fmt.Errorf("got %d objects, want 2", len(objects.Items))
	}
	return &objects.Items[1], nil
}

// end deletes the definition while it lists objects, and expects that nothing is left.
func (l *life) end(ctx context.Context, name string) error {
	if err := definitions().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting the definition: %w", err)
	}
	list := func(ctx context.Context) error {
		_, err := in(l.clients, l.group, "v2").List(ctx, metav1.ListOptions{})
		return err
	}
	for range requestsPerChange {
		if err := list(ctx); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("list in a terminating definition: %w", err)
		}
	}
	if err := gone(ctx, name); err != nil {
		return err
	}
	stored, err := l.store.Get(ctx, "/registry/"+l.group+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return err
	}
	if stored.Count != 0 {
		return fmt.Errorf("%d objects are left in etcd", stored.Count)
	}
	return eventually(ctx, func(ctx context.Context) error {
		if err := list(ctx); !apierrors.IsNotFound(err) {
			return fmt.Errorf("list without definition: got error %w, want not found", err)
		}
		return nil
	})
}
