// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"celador.io/celador/pkg/features"
)

// abandonTimeout is how long a stop waits for the kube-apiserver if its etcd has failed.
const abandonTimeout = 5 * time.Second

// A Server is a running control plane. Its methods are safe for concurrent use.
type Server struct {
	dir    dataDir
	config *rest.Config
	// cleanups holds the functions that cleanup calls, in reverse order.
	cleanups []func() error

	stop     chan struct{}
	stopOnce sync.Once
	done     chan struct{}
	// err may be read after done is closed.
	err error
}

// Kubeconfig returns the path of the admin's kubeconfig. The file contains the admin's certificate
// and key, and the certificate authority to verify the server with.
func (s *Server) Kubeconfig() string { return s.dir.kubeconfig() }

// RESTConfig returns a new client configuration for the admin, a member of system:masters, that
// verifies the server.
func (s *Server) RESTConfig() *rest.Config { return rest.CopyConfig(s.config) }

// URL returns the address of the server, such as "https://127.0.0.1:6443".
func (s *Server) URL() string { return s.config.Host }

// Done returns a channel that is closed after all parts of the server have stopped.
func (s *Server) Done() <-chan struct{} { return s.done }

// Wait waits until all parts of the server have stopped. It returns nil after Stop, and otherwise
// the reason why the server ended.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}

// Stop lets requests in flight finish, closes etcd, and waits until all parts of the server have
// stopped. It returns the error of Wait. Further calls only wait.
func (s *Server) Stop() error {
	s.stopOnce.Do(func() { close(s.stop) })
	return s.Wait()
}

// launch starts etcd and kube-apiserver. After an error the caller must call cleanup; otherwise
// supervise does.
func (s *Server) launch(ctx context.Context, api *apiServer, progress func(string)) (err error) {
	release, err := s.dir.claim()
	if err != nil {
		return err
	}
	s.addCleanup(release)

	if err := api.applyLogging(); err != nil {
		return err
	}
	restore, err := features.Adopt(api.gate)
	if err != nil {
		return err
	}
	s.addCleanup(restore)

	files := pki{s.dir.pki()}
	if err := files.ensure(api.servingIPs()); err != nil {
		return err
	}
	url, err := api.listen()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			api.SecureServing.Listener.Close()
		}
	}()

	socket, removeSocket, err := s.dir.socket()
	if err != nil {
		return err
	}
	s.addCleanup(func() error { removeSocket(); return nil })
	completed, err := api.complete(ctx, socket)
	if err != nil {
		return err
	}
	if s.config, err = adminConfig(url, files); err != nil {
		return err
	}
	if err := writeKubeconfig(s.dir.kubeconfig(), s.config); err != nil {
		return err
	}

	etcd, err := startEtcd(ctx, s.dir.etcd(), socket)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), etcd.close())
	}
	progress("etcd is up")

	runCtx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := run(runCtx, completed)
		// The listener is closed last, because a kube-apiserver that loses its listener while it
		// runs panics.
		api.SecureServing.Listener.Close()
		ended <- err
	}()
	go s.supervise(etcd, ended, cancel)
	return nil
}

func (s *Server) addCleanup(f func() error) { s.cleanups = append(s.cleanups, f) }

func (s *Server) cleanup() error {
	var errs []error
	for _, f := range slices.Backward(s.cleanups) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// supervise waits until Stop is called or a part ends, and then stops all parts, kube-apiserver
// before etcd.
func (s *Server) supervise(etcd *etcdServer, apiEnded <-chan error, stopAPI context.CancelFunc) {
	defer close(s.done)
	select {
	case <-s.stop:
		stopAPI()
		s.err = errors.Join(<-apiEnded, etcd.close())
	case err := <-apiEnded:
		if err == nil {
			err = errors.New("kube-apiserver ended by itself")
		}
		stopAPI()
		s.err = errors.Join(err, etcd.close())
	case err := <-etcd.failed:
		s.err = fmt.Errorf("etcd cannot go on: %w", err)
		stopAPI()
		// Do not wait for either part for ever: without etcd, requests of kube-apiserver hang, and
		// an etcd whose goroutine has ended may hang when it is closed.
		select {
		case <-apiEnded:
		case <-time.After(abandonTimeout):
		}
	}
	s.err = errors.Join(s.err, s.cleanup())
}

// awaitReady returns nil once the server is ready, and an error if the server ends first or
// startTimeout passes. It ignores the context of Start, because a kube-apiserver that is stopped
// during its start ends the process.
func (s *Server) awaitReady(progress func(string)) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), startTimeout, fmt.Errorf("%v have passed", startTimeout))
	defer cancel()
	go func() {
		select {
		case <-s.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	return awaitReady(ctx, s.config, func() { progress("kube-apiserver is up at " + s.URL()) })
}
