package embedded

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
)

// dial opens a bare connection to the server.
func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", filepath.Join(s.dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// packet is a message: an optional type, the length, the body.
func packet(kind string, body string) []byte {
	b := binary.BigEndian.AppendUint32([]byte(kind), uint32(len(body)+4))
	return append(b, body...)
}

func code(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }

var hello = packet("", code(3<<16)+"user\x00postgres\x00database\x00postgres\x00\x00")

// answer reads messages until one of the given type and returns its body.
func answer(t *testing.T, c net.Conn, kind byte) string {
	t.Helper()
	head := make([]byte, 5)
	for {
		if _, err := io.ReadFull(c, head); err != nil {
			t.Fatalf("waiting for %c: %v", kind, err)
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(c, body); err != nil {
			t.Fatal(err)
		}
		if head[0] == kind {
			return string(body)
		}
	}
}

func TestRequestsBeforeHello(t *testing.T) {
	c := dial(t, shared)
	for _, request := range []uint32{80877103, 80877104} { // encryption, twice refused
		c.Write(packet("", code(request)))
		b := make([]byte, 1)
		if _, err := io.ReadFull(c, b); err != nil || b[0] != 'N' {
			t.Fatalf("%q, %v", b, err)
		}
	}
	c.Write(hello)
	answer(t, c, 'Z')

	cancel := dial(t, shared) // while c is being served
	cancel.Write(packet("", code(80877102)+"12345678"))
	if n, err := cancel.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a cancel request got %d bytes, %v", n, err)
	}
	c.Write(packet("Q", "SELECT 'still here'\x00"))
	if row := answer(t, c, 'D'); !strings.Contains(row, "still here") {
		t.Errorf("%q", row)
	}
}

// Bytes that are not the protocol cost one connection, not the server.
func TestGarbage(t *testing.T) {
	for name, bytes := range map[string][]byte{
		"http":             []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"old protocol":     packet("", code(2<<16)+"\x00"),
		"no user":          packet("", code(3<<16)+"\x00"),
		"unknown type":     append(append([]byte{}, hello...), packet("!", "")...),
		"negative length":  append(append([]byte{}, hello...), 'Q', 0xff, 0xff, 0xff, 0xff),
		"enormous length":  append(append([]byte{}, hello...), 'Q', 0x7f, 0xff, 0xff, 0xff),
		"half a message":   append(append([]byte{}, hello...), 'Q', 0, 0, 0, 99, 'S'),
		"half a batch":     append(append([]byte{}, hello...), packet("P", "s\x00BEGIN\x00\x00\x00")...),
		"malformed bind":   append(append([]byte{}, hello...), append(packet("B", "\xff"), packet("S", "")...)...),
		"unfinished parse": append(append([]byte{}, hello...), append(packet("P", "s"), packet("H", "")...)...),
	} {
		c := dial(t, shared)
		c.Write(bytes)
		time.Sleep(20 * time.Millisecond)
		c.Close()
		db := pool(t, shared)
		if n := value[int](t, db, `SELECT $1::int`, 7); n != 7 {
			t.Errorf("after %s: %d", name, n)
		}
		db.Close()
	}
	select {
	case <-shared.Done():
		t.Fatal(shared.Err())
	default:
	}
}

// A second connection is served when the first has closed, and refused in words when that takes too long.
func TestSecondConnection(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Memory: true, queueWait: 3 * time.Second})
	first, second := pool(t, s), pool(t, s)
	mustExec(t, first, `CREATE TABLE t (n int)`)
	err := second.PingContext(limited(t))
	var e *pq.Error
	if !errors.As(err, &e) || e.Code != "53300" || !strings.Contains(e.Message, "one connection at a time") {
		t.Fatalf("%v, want a refusal with code 53300", err)
	}
	mustExec(t, first, `INSERT INTO t VALUES (1)`) // undisturbed
	go func() {
		time.Sleep(300 * time.Millisecond)
		first.Close()
	}()
	if n := value[int](t, second, `SELECT count(*) FROM t`); n != 1 {
		t.Errorf("%d rows", n)
	}
	mustExec(t, second, `BEGIN`)
	if err := s.Close(limited(t)); err != nil { // an open transaction doesn't hold it up
		t.Fatal(err)
	}
	gone(t, s)
}
