// Package secretservice plays the keychain of a Linux desktop for tests: a session
// bus on a socket of its own with a Secret Service behind it. It knows only what
// Garuda asks of one, keeps its secrets in memory, and checks what it is asked
// strictly, so that a call it does not know is an error.
//
// It is no bus: every connection speaks to the service alone.
package secretservice

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"path/filepath"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"
)

// Mode is how the service behaves.
type Mode string

// The modes.
const (
	// Works keeps and gives secrets.
	Works Mode = "works"
	// Locked has its collection locked.
	Locked Mode = "locked"
	// Absent is a bus on which no Secret Service runs.
	Absent Mode = "absent"
	// Mute accepts connections and never says anything.
	Mute Mode = "mute"
	// Prompting wants the user to confirm every change.
	Prompting Mode = "prompting"
)

const (
	collection = dbus.ObjectPath("/org/freedesktop/secrets/collection/login")
	session    = dbus.ObjectPath("/org/freedesktop/secrets/session/1")
	noPrompt   = dbus.ObjectPath("/")
)

// Server is one bus with its service.
type Server struct {
	// Address is what DBUS_SESSION_BUS_ADDRESS has to say.
	Address string

	listener net.Listener
	wg       sync.WaitGroup

	mu    sync.Mutex
	mode  Mode
	conns map[net.Conn]bool
	// keys are the secrets by user name; items are the object paths of them.
	keys   map[string]string
	items  map[dbus.ObjectPath]string
	serial uint32
}

// Start makes a server whose socket lies in dir.
func Start(dir string) (*Server, error) {
	path := filepath.Join(dir, "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	s := &Server{
		Address: "unix:path=" + dbus.EscapeBusAddressValue(path), listener: l, mode: Works,
		conns: map[net.Conn]bool{}, keys: map[string]string{}, items: map[dbus.ObjectPath]string{},
	}
	s.wg.Go(s.accept)
	return s, nil
}

// SetMode changes how it behaves from the next question on.
func (s *Server) SetMode(m Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = m
}

// Keys are the secrets by the name of their user.
func (s *Server) Keys() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.keys)
}

// Put stores a secret as another program would.
func (s *Server) Put(name, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(name, key)
}

func (s *Server) put(name, key string) {
	s.keys[name] = key
	s.items[dbus.ObjectPath(fmt.Sprintf("%s/%x", collection, name))] = name
}

// Close ends every connection and waits for what serves them.
func (s *Server) Close() {
	_ = s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = true
		s.mu.Unlock()
		s.wg.Go(func() {
			defer func() {
				_ = c.Close()
				s.mu.Lock()
				delete(s.conns, c)
				s.mu.Unlock()
			}()
			s.serve(c)
		})
	}
}

func (s *Server) serve(c net.Conn) {
	in := bufio.NewReader(c)
	s.mu.Lock()
	mute := s.mode == Mute
	s.mu.Unlock()
	if mute {
		_, _ = io.Copy(io.Discard, in)
		return
	}
	if err := greet(in, c); err != nil {
		return
	}
	for {
		msg, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		if msg.Type != dbus.TypeMethodCall {
			continue
		}
		if err := s.reply(c, msg); err != nil {
			return
		}
	}
}

// greet is the server's side of the authentication of the D-Bus specification: the
// socket itself is the proof.
func greet(in *bufio.Reader, out io.Writer) error {
	if b, err := in.ReadByte(); err != nil || b != 0 {
		return errors.New("no NUL in front")
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		answer := "ERROR"
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case words[0] == "BEGIN":
			return nil
		case words[0] == "AUTH" && len(words) == 1:
			answer = "REJECTED EXTERNAL"
		case words[0] == "AUTH" && words[1] == "EXTERNAL":
			answer = "OK 0123456789abcdef0123456789abcdef"
		}
		if _, err := io.WriteString(out, answer+"\r\n"); err != nil {
			return err
		}
	}
}

func (s *Server) reply(out io.Writer, call *dbus.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, _ := call.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	iface, _ := call.Headers[dbus.FieldInterface].Value().(string)
	member, _ := call.Headers[dbus.FieldMember].Value().(string)
	body, err := s.answer(path, iface+"."+member, call.Body)
	s.serial++
	reply := &dbus.Message{
		Type: dbus.TypeMethodReply, Body: body,
		Headers: map[dbus.HeaderField]dbus.Variant{dbus.FieldReplySerial: dbus.MakeVariant(call.Serial())},
	}
	if err != nil {
		reply.Type, reply.Body = dbus.TypeError, []any{err.Error()}
		reply.Headers[dbus.FieldErrorName] = dbus.MakeVariant("org.freedesktop.DBus.Error.Failed")
	}
	if len(reply.Body) > 0 {
		reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(reply.Body...))
	}
	return encode(out, reply, s.serial)
}

// encode writes a message with a serial number, which only a connection of the
// library can set: it is the four bytes from the eighth on.
func encode(out io.Writer, m *dbus.Message, serial uint32) error {
	var b strings.Builder
	if err := m.EncodeTo(&b, binary.LittleEndian); err != nil {
		return err
	}
	data := []byte(b.String())
	binary.LittleEndian.PutUint32(data[8:], serial)
	_, err := out.Write(data)
	return err
}

func (s *Server) answer(path dbus.ObjectPath, method string, body []any) ([]any, error) {
	switch method {
	case "org.freedesktop.DBus.Hello":
		return []any{":1.1"}, nil
	case "org.freedesktop.DBus.NameHasOwner":
		return []any{s.mode != Absent}, nil
	}
	if s.mode == Absent {
		return nil, errors.New("the name org.freedesktop.secrets was not provided by any .service files")
	}
	switch method {
	case "org.freedesktop.Secret.Service.OpenSession":
		return []any{dbus.MakeVariant(""), session}, nil
	case "org.freedesktop.Secret.Service.ReadAlias":
		return []any{collection}, nil
	case "org.freedesktop.DBus.Properties.Get":
		return []any{dbus.MakeVariant(s.mode == Locked)}, nil
	case "org.freedesktop.Secret.Service.SearchItems":
		return s.search(body)
	case "org.freedesktop.Secret.Collection.CreateItem":
		return s.create(body)
	case "org.freedesktop.Secret.Item.GetSecret":
		name, ok := s.items[path]
		if !ok || s.mode == Locked {
			return nil, errors.New("no such item, or it is locked")
		}
		return []any{secret{session, []byte{}, []byte(s.keys[name]), "text/plain"}}, nil
	case "org.freedesktop.Secret.Item.Delete":
		if s.mode == Prompting {
			return []any{dbus.ObjectPath("/org/freedesktop/secrets/prompt/1")}, nil
		}
		delete(s.keys, s.items[path])
		delete(s.items, path)
		return []any{noPrompt}, nil
	}
	return nil, fmt.Errorf("there is no method %s", method)
}

// secret is how the interface transfers one.
type secret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

func (s *Server) search(body []any) ([]any, error) {
	var attributes map[string]string
	if err := dbus.Store(body, &attributes); err != nil {
		return nil, err
	}
	found, none := []dbus.ObjectPath{}, []dbus.ObjectPath{}
	for path, name := range s.items {
		if name == attributes["username"] {
			found = append(found, path)
		}
	}
	if s.mode == Locked {
		return []any{none, found}, nil
	}
	return []any{found, none}, nil
}

func (s *Server) create(body []any) ([]any, error) {
	var properties map[string]dbus.Variant
	var value secret
	var replace bool
	if err := dbus.Store(body, &properties, &value, &replace); err != nil {
		return nil, err
	}
	attributes, _ := properties["org.freedesktop.Secret.Item.Attributes"].Value().(map[string]string)
	switch {
	case s.mode == Locked:
		return nil, errors.New("the collection is locked")
	case s.mode == Prompting:
		return []any{noPrompt, dbus.ObjectPath("/org/freedesktop/secrets/prompt/1")}, nil
	case attributes["username"] == "" || attributes["service"] == "" || value.Session != session || !replace:
		return nil, fmt.Errorf("an item of %v", attributes)
	}
	s.put(attributes["username"], string(value.Value))
	return []any{dbus.ObjectPath(fmt.Sprintf("%s/%x", collection, attributes["username"])), noPrompt}, nil
}
