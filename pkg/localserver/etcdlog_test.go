// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"errors"
	"testing"

	"go.uber.org/zap"
)

func TestEtcdLoggerEndsOnlyTheGoroutine(t *testing.T) {
	for _, test := range []struct {
		name string
		log  func(*zap.Logger)
		want string
	}{{
		name: "fatal",
		log: func(l *zap.Logger) {
			l.With(zap.String("member", "1")).Fatal("failed to read WAL", zap.Error(errors.New("checksum")))
		},
		want: "failed to read WAL: checksum",
	}, {
		name: "panic",
		log: func(l *zap.Logger) {
			l.Panic("failed to open database", zap.String("path", "/db"), zap.Error(errors.New("invalid")))
		},
		want: "failed to open database (/db): invalid",
	}, {
		name: "fatal without fields",
		log:  func(l *zap.Logger) { l.Named("raft").Sugar().Fatalf("lost entry %d", 7) },
		want: "lost entry 7",
	}} {
		t.Run(test.name, func(t *testing.T) {
			var got error
			logger := newEtcdLogger(func(err error) { got = err })
			ended := make(chan bool)
			go func() {
				defer close(ended)
				test.log(logger)
				ended <- true
			}()
			if <-ended {
				t.Error("the goroutine went on")
			}
			if got == nil || got.Error() != test.want {
				t.Errorf("got %v, want %q", got, test.want)
			}
		})
	}
}
