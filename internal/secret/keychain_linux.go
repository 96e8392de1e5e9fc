package secret

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// SystemKeychain is the system's keychain for the keys of one Garuda folder: on
// Linux the Secret Service of the desktop (GNOME Keyring, KWallet, KeePassXC),
// which is spoken to over the session bus.
//
// Only a bus that the environment names and that is a socket of this machine is
// used, only a service that runs already, and only a collection that is unlocked:
// nothing is started, and no question is put to the user that nobody may see. The
// library for all systems would start a bus by itself and wait for its prompts.
func SystemKeychain(home string) Keychain { return &secretService{service: "garuda " + home} }

// busLimit is how long one use of the Secret Service may take.
const busLimit = 2 * time.Second

// Names of the Secret Service interface, version 0.2 of its specification.
const (
	ssName       = "org.freedesktop.secrets"
	ssPath       = "/org/freedesktop/secrets"
	ssService    = "org.freedesktop.Secret.Service"
	ssCollection = "org.freedesktop.Secret.Collection"
	ssItem       = "org.freedesktop.Secret.Item"
	noObject     = dbus.ObjectPath("/")
)

var (
	errNoBus     = errors.New("no session bus of this machine is named in DBUS_SESSION_BUS_ADDRESS")
	errNoService = errors.New("no Secret Service runs (such as GNOME Keyring or KWallet)")
	errLocked    = errors.New("it is locked; unlock it, for example by logging in to the desktop")
)

type secretService struct{ service string }

// ssSecret is a secret as the interface transfers it.
type ssSecret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

func (*secretService) Title() string { return "the desktop's keychain (Secret Service)" }

func (k *secretService) Probe(ctx context.Context) error {
	return k.use(ctx, func(b *bus) error {
		_, err := b.collection()
		return err
	})
}

func (k *secretService) Get(ctx context.Context, name string) (key string, err error) {
	err = k.use(ctx, func(b *bus) error {
		items, err := b.items(k.attributes(name))
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return ErrNotInKeychain
		}
		session, err := b.session()
		if err != nil {
			return err
		}
		var s ssSecret
		if err := b.call(items[0], ssItem+".GetSecret", session).Store(&s); err != nil {
			return err
		}
		key = string(s.Value)
		return nil
	})
	return key, err
}

func (k *secretService) Set(ctx context.Context, name, key string) error {
	return k.use(ctx, func(b *bus) error {
		collection, err := b.collection()
		if err != nil {
			return err
		}
		session, err := b.session()
		if err != nil {
			return err
		}
		var item, prompt dbus.ObjectPath
		err = b.call(collection, ssCollection+".CreateItem", map[string]dbus.Variant{
			ssItem + ".Label":      dbus.MakeVariant(name + " (" + k.service + ")"),
			ssItem + ".Attributes": dbus.MakeVariant(k.attributes(name)),
		}, ssSecret{Session: session, Parameters: []byte{}, Value: []byte(key), ContentType: "text/plain; charset=utf8"}, true).Store(&item, &prompt)
		if err == nil && prompt != noObject {
			err = errLocked
		}
		return err
	})
}

func (k *secretService) Delete(ctx context.Context, name string) error {
	return k.use(ctx, func(b *bus) error {
		items, err := b.items(k.attributes(name))
		if err != nil {
			return err
		}
		for _, item := range items {
			var prompt dbus.ObjectPath
			if err := b.call(item, ssItem+".Delete").Store(&prompt); err != nil {
				return err
			}
			if prompt != noObject {
				return errLocked
			}
		}
		return nil
	})
}

// attributes are what an item is found by; secret-tool shows them.
func (k *secretService) attributes(name string) map[string]string {
	return map[string]string{"service": k.service, "username": name}
}

// bus is one connection, for one use.
type bus struct {
	ctx  context.Context
	conn *dbus.Conn
}

// use connects, calls f, and closes the connection and with it the session of the
// service, whatever happened.
func (k *secretService) use(ctx context.Context, f func(*bus) error) error {
	address := busAddress(os.Getenv("DBUS_SESSION_BUS_ADDRESS"))
	if address == "" {
		return errNoBus
	}
	ctx, cancel := context.WithTimeout(ctx, busLimit)
	defer cancel()
	conn, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		return silence(ctx, fmt.Errorf("connect to the session bus: %w", err))
	}
	b := &bus{ctx: ctx, conn: conn}
	var runs bool
	err = conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, ssName).Store(&runs)
	if err == nil && !runs {
		err = errNoService
	}
	if err == nil {
		err = f(b)
	}
	return silence(ctx, errors.Join(err, conn.Close()))
}

// silence says in plain words that there was no answer in time.
func silence(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the session bus did not answer within %s: %w", busLimit, context.DeadlineExceeded)
	}
	return err
}

// busAddress keeps the sockets of this machine out of a list of addresses. Secrets
// are transferred as they are, so they must not leave it.
func busAddress(list string) string {
	var out []string
	for address := range strings.SplitSeq(list, ";") {
		if strings.HasPrefix(address, "unix:") {
			out = append(out, address)
		}
	}
	return strings.Join(out, ";")
}

// call never starts a service that does not run.
func (b *bus) call(path dbus.ObjectPath, method string, args ...any) *dbus.Call {
	return b.conn.Object(ssName, path).CallWithContext(b.ctx, method, dbus.FlagNoAutoStart, args...)
}

func (b *bus) session() (dbus.ObjectPath, error) {
	var output dbus.Variant
	var path dbus.ObjectPath
	err := b.call(ssPath, ssService+".OpenSession", "plain", dbus.MakeVariant("")).Store(&output, &path)
	return path, err
}

// collection is the one for new items, unlocked.
func (b *bus) collection() (dbus.ObjectPath, error) {
	var path dbus.ObjectPath
	if err := b.call(ssPath, ssService+".ReadAlias", "default").Store(&path); err != nil {
		return "", err
	}
	if path == noObject {
		return "", errors.New("it has no collection for new keys yet; make one with the desktop's program for passwords")
	}
	var locked dbus.Variant
	if err := b.call(path, "org.freedesktop.DBus.Properties.Get", ssCollection, "Locked").Store(&locked); err != nil {
		return "", err
	}
	if is, ok := locked.Value().(bool); !ok || is {
		return "", errLocked
	}
	return path, nil
}

// items finds the unlocked items with these attributes. Locked ones are an error
// when there is no other.
func (b *bus) items(attributes map[string]string) ([]dbus.ObjectPath, error) {
	var unlocked, locked []dbus.ObjectPath
	if err := b.call(ssPath, ssService+".SearchItems", attributes).Store(&unlocked, &locked); err != nil {
		return nil, err
	}
	if len(unlocked) == 0 && len(locked) > 0 {
		return nil, errLocked
	}
	return unlocked, nil
}
