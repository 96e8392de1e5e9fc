package stage

import "syscall"

// Environment is what a stage is started with. It needs nothing of it; with one
// processor the Go runtime starts fewer threads, none of which would find work.
func Environment() []string { return []string{"GOMAXPROCS=1"} }

const (
	// Program is the name under which the binary is started as a stage. Without new
	// namespaces and a Control descriptor it does nothing.
	Program = "garuda-sandbox"
	// Control is the descriptor over which a stage is told its policy and answers: one
	// end of a stream pair of unix sockets. When it says Ready, the maps of its user
	// namespace are to be written; then comes the policy, its length before it (8
	// bytes, little-endian); from then on each byte is the number of a signal for
	// everything in the namespace. Its end ends the namespace.
	Control = 3
)

// Reply is the first byte of what a stage answers. 4 bytes follow with the length of
// the rest, little-endian.
type Reply byte

const (
	// Ready says that the stage runs and waits for its policy.
	Ready Reply = 'H'
	// Network carries the opened listeners as its descriptors, and nothing else.
	Network Reply = 'N'
	// Running says that the command runs.
	Running Reply = 'R'
	// Failed says that it does not and will not: an error number (4 bytes,
	// little-endian, 0 when there is none), the step's name, a NUL, and what went wrong.
	Failed Reply = 'F'
	// Exited is how the command ended: a wait status, 4 bytes, little-endian.
	Exited Reply = 'X'
)

// ReplyHead is how long the head of a reply is, ReplyLimit how long its rest may be.
const (
	ReplyHead  = 5
	ReplyLimit = 64 << 10
)

func little(n uint32) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)} }

// reply answers; files go along as descriptors.
func reply(kind Reply, body []byte, files ...int) error {
	body = body[:min(len(body), ReplyLimit)]
	message := append([]byte{byte(kind)}, little(uint32(len(body)))...)
	message = append(message, body...)
	var rights []byte
	if len(files) > 0 {
		rights = syscall.UnixRights(files...)
	}
	for len(message) > 0 {
		n, err := syscall.SendmsgN(Control, message, rights, nil, syscall.MSG_NOSIGNAL)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		message, rights = message[n:], nil
	}
	return nil
}

// await returns when Garuda has begun to tell it something, or has gone.
func await() { waitForByte(Control) }

// readMessage reads what the stage is told, which begins with its length.
func readMessage() ([]byte, error) {
	head, err := readFull(8)
	if err != nil {
		return nil, err
	}
	d := decoder{rest: head}
	n := d.number()
	if n > policyLimit {
		return nil, errPolicy
	}
	return readFull(int(n))
}

func readFull(n int) ([]byte, error) {
	b := make([]byte, n)
	for got := 0; got < n; {
		m, err := syscall.Read(Control, b[got:])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, err
		case m == 0:
			return nil, syscall.ECONNRESET // Garuda has gone
		}
		got += max(m, 0)
	}
	return b, nil
}
