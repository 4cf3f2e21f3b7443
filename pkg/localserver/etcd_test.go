// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/schema"
)

const (
	testKey  = "key"
	testKeys = 200
)

// withEtcd calls f with a client of an etcd that serves the data in dir.
func withEtcd(t *testing.T, dir string, f func(*clientv3.Client)) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	server, err := startEtcd(t.Context(), dir, socket)
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"unix://" + socket}})
	if err != nil {
		t.Fatal(err)
	}
	f(client)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := server.close(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("unix", socket); err == nil {
		t.Error("the socket is served after close")
	}
}

func filledEtcd(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	withEtcd(t, dir, func(client *clientv3.Client) {
		for i := range testKeys {
			if _, err := client.Put(t.Context(), fmt.Sprint(testKey, i), strings.Repeat("v", 500)); err != nil {
				t.Fatal(err)
			}
		}
	})
	return dir
}

func TestEtcdKeepsItsData(t *testing.T) {
	withEtcd(t, filledEtcd(t), func(client *clientv3.Client) {
		got, err := client.Get(t.Context(), testKey, clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			t.Fatal(err)
		}
		if got.Count != testKeys {
			t.Errorf("%d keys after the restart, want %d", got.Count, testKeys)
		}
	})
}

func TestEtcdRebuildsItsDatabase(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, member string){
		// A crash in the first start leaves these files.
		"empty database": func(t *testing.T, member string) { write(t, filepath.Join(member, "snap", "db"), "") },
		"no database": func(t *testing.T, member string) {
			if err := os.Remove(filepath.Join(member, "snap", "db")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filledEtcd(t)
			change(t, filepath.Join(dir, "member"))
			withEtcd(t, dir, func(client *clientv3.Client) {
				if _, err := client.Get(t.Context(), testKey); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestEtcdRefusesCorruptData(t *testing.T) {
	garbage := strings.Repeat("\xa5", 64<<10)
	db := filepath.Join("snap", "db")
	log := filepath.Join("wal", firstSegment)
	for _, test := range []struct {
		name    string
		corrupt func(t *testing.T, member string)
		want    string
	}{{
		name:    "garbage database",
		corrupt: func(t *testing.T, member string) { write(t, filepath.Join(member, db), garbage) },
		want:    "invalid database",
	}, {
		name:    "short database",
		corrupt: func(t *testing.T, member string) { truncate(t, filepath.Join(member, db), 2*os.Getpagesize()) },
		want:    "a file is damaged",
	}, {
		name: "garbage in a page",
		corrupt: func(t *testing.T, member string) {
			path := filepath.Join(member, db)
			overwrite(t, path, int(rootPage(t, path))*os.Getpagesize(), garbage[:os.Getpagesize()])
		},
		want: "a file is damaged",
	}, {
		name:    "no log",
		corrupt: func(t *testing.T, member string) { removeAll(t, filepath.Join(member, "wal")) },
		want:    "is missing",
	}, {
		name:    "empty log",
		corrupt: func(t *testing.T, member string) { write(t, filepath.Join(member, log), "") },
		want:    "is cut short: it ends with entry 0",
	}, {
		name:    "short log",
		corrupt: func(t *testing.T, member string) { truncate(t, filepath.Join(member, log), 20_000) },
		want:    "is cut short: it ends with entry",
	}, {
		name:    "garbage in the log",
		corrupt: func(t *testing.T, member string) { overwrite(t, filepath.Join(member, log), 20_000, garbage[:1000]) },
		want:    "the log that belongs to it",
	}, {
		name: "a file for a directory",
		corrupt: func(t *testing.T, member string) {
			removeAll(t, member)
			write(t, member, "")
		},
		want: "not a directory",
	}} {
		t.Run(test.name, func(t *testing.T) {
			dir := filledEtcd(t)
			test.corrupt(t, filepath.Join(dir, "member"))
			_, err := startEtcd(t.Context(), dir, filepath.Join(t.TempDir(), "s"))
			if err == nil {
				t.Fatal("etcd started")
			}
			for _, want := range []string{"etcd cannot use its data in " + dir, test.want, "restore it from a copy, or delete it"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want %q", err, want)
				}
			}
		})
	}
}

func rootPage(t *testing.T, path string) (id uint64) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.View(func(tx *bolt.Tx) error {
		id = uint64(tx.Bucket(schema.Key.Name()).RootPage())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return id
}

func truncate(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.Truncate(path, int64(size)); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, offset int, content string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte(content), int64(offset)); err != nil {
		t.Fatal(err)
	}
}

func removeAll(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}
