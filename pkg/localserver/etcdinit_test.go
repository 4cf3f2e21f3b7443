// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// The first start may be killed at any time, and the next start must succeed. The test tries each
// state of the disk between two log messages of etcd, up to the first state with a committed entry.
func TestEtcdStartsAfterAnyStateOfItsFirstStart(t *testing.T) {
	states := firstStart(t)
	uninitializedStates := 0
	for i, dir := range states {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if wal.Exist(filepath.Join(dir, "member", "wal")) && checkData(dir) != nil {
				uninitializedStates++
			}
			withEtcd(t, dir, func(client *clientv3.Client) {
				if _, err := client.Put(t.Context(), testKey, "new"); err != nil {
					t.Error(err)
				}
			})
		})
	}
	if uninitializedStates == 0 {
		t.Errorf("none of %d states has a log without entries", len(states))
	}
}

// firstStart starts etcd and copies its directory at each log message, unless nothing has changed
// since the previous one. The last copy is the first with a committed entry. It returns the copies
// in order.
func firstStart(t *testing.T) (copies []string) {
	t.Helper()
	var (
		mu        sync.Mutex
		committed uint64
		last      [sha256.Size]byte
	)
	live, states := t.TempDir(), t.TempDir()
	keep := func(zapcore.Entry) error {
		mu.Lock()
		defer mu.Unlock()
		if committed > 0 {
			return nil
		}
		dir := filepath.Join(states, fmt.Sprint(len(copies)))
		sum := copyData(t, dir, live)
		if sum == last {
			return os.RemoveAll(dir)
		}
		last, copies = sum, append(copies, dir)
		if log := filepath.Join(dir, "member", "wal"); wal.Exist(log) {
			var err error
			if _, committed, err = lastEntries(log); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zapcore.DebugLevel)
	etcd, err := embed.StartEtcd(etcdConfig(live, filepath.Join(t.TempDir(), "s"), zap.New(core, zap.Hooks(keep))))
	if err != nil {
		t.Fatal(err)
	}
	<-etcd.Server.ReadyNotify()
	etcd.Close()
	mu.Lock()
	defer mu.Unlock()
	if committed == 0 {
		t.Error("no copy has a committed entry")
	}
	return copies
}

// copyData copies etcd's directory and returns a checksum. It copies the database before the log,
// so the copied log is never behind the copied database.
func copyData(t *testing.T, to, from string) [sha256.Size]byte {
	const used = 1 << 20 // of each file; etcd reserves more
	sum := sha256.New()
	for _, sub := range []string{"snap", "wal"} {
		sub = filepath.Join("member", sub)
		entries, err := os.ReadDir(filepath.Join(from, sub))
		if err != nil {
			continue // not made yet
		}
		if err := os.MkdirAll(filepath.Join(to, sub), 0o700); err != nil {
			t.Error(err)
		}
		for _, entry := range entries {
			file, err := os.Open(filepath.Join(from, sub, entry.Name()))
			if err != nil {
				continue // renamed meanwhile
			}
			info, err := file.Stat()
			if err != nil {
				t.Error(err)
			}
			content, err := io.ReadAll(io.LimitReader(file, used))
			if err := errors.Join(err, file.Close()); err != nil {
				t.Error(err)
			}
			fmt.Fprintln(sum, sub, entry.Name(), info.Size())
			sum.Write(content)
			path := filepath.Join(to, sub, entry.Name())
			if err := errors.Join(os.WriteFile(path, content, 0o600), os.Truncate(path, info.Size())); err != nil {
				t.Error(err)
			}
		}
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// etcdDirEnv is the environment variable that makes a process of this test binary run etcd, in the
// named directory.
const etcdDirEnv = "CELADOR_TEST_ETCD_DIR"

func TestEtcdStartsAfterKill(t *testing.T) {
	if dir := os.Getenv(etcdDirEnv); dir != "" {
		if _, err := startEtcd(t.Context(), dir, filepath.Join(t.TempDir(), "s")); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or its parent has ended
	}
	for _, file := range []string{"snap", "snap/db", "wal.tmp", "wal", "wal/0.tmp"} {
		t.Run(file, func(t *testing.T) {
			dir := t.TempDir()
			child := exec.Command(os.Args[0], "-test.run=^TestEtcdStartsAfterKill$")
			child.Env = append(os.Environ(), etcdDirEnv+"="+dir)
			stdin, err := child.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- child.Wait() }()
			for path := filepath.Join(dir, "member", file); ; {
				// etcd removes wal.tmp so soon that it may be missed.
				if exists(path) || file == "wal.tmp" && exists(filepath.Join(dir, "member", "wal")) {
					break
				}
				select {
				case err := <-ended:
					t.Fatalf("etcd ended before there was %s: %v", path, err)
				case <-t.Context().Done():
					t.Fatal(t.Context().Err())
				default:
				}
			}
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended
			withEtcd(t, dir, func(client *clientv3.Client) {
				if _, err := client.Put(t.Context(), testKey, file); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// An initialized store is used or refused but never replaced, however much of it is missing.
func TestEtcdKeepsInitializedData(t *testing.T) {
	db, log := filepath.Join("snap", "db"), filepath.Join("wal", firstSegment)
	zeros := strings.Repeat("\x00", 1<<20)
	for _, test := range []struct {
		name string
		harm func(t *testing.T, member string)
		want string // text of the error; if empty, etcd starts with its data
	}{{
		name: "last record of the log cut off, no database",
		harm: func(t *testing.T, member string) {
			removeAll(t, filepath.Join(member, db))
			path := filepath.Join(member, log)
			truncate(t, path, len(bytes.TrimRight(read(t, path), "\x00"))-10)
		},
	}, {
		name: "log cut off after its header",
		harm: func(t *testing.T, member string) {
			truncate(t, filepath.Join(member, log), headerSize(t, filepath.Join(member, log)))
		},
		want: "is cut short",
	}, {
		name: "log cut off after its header, no database",
		harm: func(t *testing.T, member string) {
			removeAll(t, filepath.Join(member, db))
			truncate(t, filepath.Join(member, log), headerSize(t, filepath.Join(member, log)))
		},
		want: "has no committed entry",
	}, {
		name: "log overwritten after its header",
		harm: func(t *testing.T, member string) {
			overwrite(t, filepath.Join(member, log), headerSize(t, filepath.Join(member, log)), zeros)
		},
		want: "is cut short",
	}, {
		name: "first entries of the log overwritten, empty database",
		harm: func(t *testing.T, member string) {
			write(t, filepath.Join(member, db), "")
			overwrite(t, filepath.Join(member, log), headerSize(t, filepath.Join(member, log)), zeros[:1000])
		},
		want: "has no committed entry",
	}, {
		name: "a new log",
		harm: func(t *testing.T, member string) { newLog(t, filepath.Join(member, "wal")) },
		want: "is cut short",
	}, {
		name: "a new log, no database, a snapshot",
		harm: func(t *testing.T, member string) {
			removeAll(t, filepath.Join(member, db))
			newLog(t, filepath.Join(member, "wal"))
			write(t, filepath.Join(member, "snap", "0000000000000002-0000000000000010.snap"), "")
		},
		want: "has no committed entry",
	}, {
		name: "a new log, damaged database",
		harm: func(t *testing.T, member string) {
			newLog(t, filepath.Join(member, "wal"))
			truncate(t, filepath.Join(member, db), 2*os.Getpagesize())
		},
		want: "a file is damaged",
	}} {
		t.Run(test.name, func(t *testing.T) {
			dir := filledEtcd(t)
			test.harm(t, filepath.Join(dir, "member"))
			if test.want == "" {
				withEtcd(t, dir, func(client *clientv3.Client) {
					got, err := client.Get(t.Context(), testKey, clientv3.WithPrefix(), clientv3.WithCountOnly())
					if err != nil || got.Count < testKeys-1 {
						t.Errorf("%v keys, want all but the last at least: %v", got, err)
					}
				})
				return
			}
			before := copyData(t, t.TempDir(), dir)
			_, err := startEtcd(t.Context(), dir, filepath.Join(t.TempDir(), "s"))
			if want := "etcd cannot use its data in " + dir; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q and %q", err, want, test.want)
			}
			if before != copyData(t, t.TempDir(), dir) {
				t.Error("the data has changed")
			}
		})
	}
}

// headerSize returns the size of the records that begin a log: checksum, metadata and snapshot.
func headerSize(t *testing.T, path string) int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records := wal.NewDecoder(fileutil.NewFileReader(file))
	for range 3 {
		if err := records.Decode(new(walpb.Record)); err != nil {
			t.Fatal(err)
		}
	}
	return int(records.LastOffset())
}

// newLog replaces a log with a log without entries.
func newLog(t *testing.T, dir string) {
	t.Helper()
	removeAll(t, dir)
	log, err := wal.Create(zap.NewNop(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
