// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package latest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"celador.io/celador/test/integration/testserver"
)

// An etcdProxy passes calls on to etcd, and delays what etcd sends to watches.
type etcdProxy struct {
	url  string
	etcd *grpc.ClientConn

	lock sync.Mutex
	// held is closed when watches go on, or nil while they do. delay returns the delay of the next
	// message.
	held  chan struct{}
	delay func() time.Duration
}

// startProxy starts a proxy of an etcd, which stops at the end of the test.
func startProxy(t *testing.T, etcdURL string) *etcdProxy {
	t.Helper()
	p := &etcdProxy{delay: func() time.Duration { return 0 }}
	sizes := grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(math.MaxInt32))
	p.etcd = testserver.Must(grpc.NewClient(strings.TrimPrefix(etcdURL, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()), sizes))(t)
	listener := testserver.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	p.url = "http://" + listener.Addr().String()
	server := grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.MaxRecvMsgSize(math.MaxInt32), grpc.UnknownServiceHandler(p.forward))
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := errors.Join(<-stopped, p.etcd.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// hold delays all messages to watches until the returned function is called.
func (p *etcdProxy) hold() (release func()) {
	p.lock.Lock()
	defer p.lock.Unlock()
	held := make(chan struct{})
	p.held = held
	return sync.OnceFunc(func() {
		p.lock.Lock()
		defer p.lock.Unlock()
		p.held = nil
		close(held)
	})
}

// setDelay sets the function that returns the delay of the next message.
func (p *etcdProxy) setDelay(delay func() time.Duration) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.delay = delay
}

// await waits until a message to a watch may be passed on.
func (p *etcdProxy) await(ctx context.Context) {
	p.lock.Lock()
	held, delay := p.held, p.delay()
	p.lock.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
		}
	}
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
		}
	}
}

// forward is a grpc.StreamHandler.
func (p *etcdProxy) forward(_ any, from grpc.ServerStream) error {
	ctx, cancel := context.WithCancel(from.Context())
	defer cancel()
	if incoming, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, incoming)
	}
	method, _ := grpc.MethodFromServerStream(from)
	to, err := p.etcd.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	go func() {
		err := copyMessages(to.SendMsg, from.RecvMsg)
		if err == nil {
			err = to.CloseSend()
		}
		if err != nil {
			cancel()
		}
	}()
	send := from.SendMsg
	if strings.HasSuffix(method, ".Watch/Watch") {
		send = func(message any) error {
			p.await(ctx)
			return from.SendMsg(message)
		}
	}
	err = copyMessages(send, to.RecvMsg)
	from.SetTrailer(to.Trailer())
	return err
}

// copyMessages sends what it receives. It returns nil at the end.
func copyMessages(send, receive func(any) error) error {
	for {
		var message []byte
		if err := receive(&message); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := send(&message); err != nil {
			return err
		}
	}
}

// raw is a codec of messages that are not decoded.
type raw struct{}

// Marshal implements encoding.Codec.
func (raw) Marshal(message any) ([]byte, error) {
	bytes, ok := message.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("cannot encode a %T", message)
	}
	return *bytes, nil
}

// Unmarshal implements encoding.Codec.
func (raw) Unmarshal(data []byte, message any) error {
	bytes, ok := message.(*[]byte)
	if !ok {
		return fmt.Errorf("cannot decode a %T", message)
	}
	*bytes = append([]byte{}, data...)
	return nil
}

// Name implements encoding.Codec. It is the content type of etcd's messages.
func (raw) Name() string { return "proto" }
