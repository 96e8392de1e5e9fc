package linux

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/bounds"
	"garuda/internal/sandbox/stage"
	"garuda/internal/sandbox/wrapped"
)

// beginLimit is how long a stage may take until the command runs.
const beginLimit = 5 * time.Second

// StepError says which step of the sandbox failed. The command did not run.
type StepError struct {
	// Step is the step's name in package stage.
	Step, What string
	// Errno is the kernel's word for it; 0 when there is none.
	Errno syscall.Errno
}

func (e *StepError) Error() string {
	return fmt.Sprintf("set up its sandbox, step %s: %s; the command did not run", e.Step, e.What)
}

func (e *StepError) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

// talk is Garuda's end of one stage, and what that command holds.
type talk struct {
	executor *Executor
	policy   []byte
	passage  sandbox.Passage
	// made is set where a Maker makes the namespaces.
	made    *Made
	held    []string
	control *os.File
	// group and limits bound the command.
	group  *bounds.Group
	limits sandbox.Limits
	// leave gives back the slot, once; nil before there is one.
	leave func()
}

// enter waits for a slot.
func (t *talk) enter(ctx context.Context) error {
	select {
	case t.executor.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t.leave = sync.OnceFunc(func() { <-t.executor.slots })
	return nil
}

// prepare makes the policy, and what has to stand before the command starts.
func (t *talk) prepare(ctx context.Context, view *sandbox.View, cmd *sandbox.Command) (err error) {
	view, t.held, err = t.executor.places.hold(view)
	if err != nil {
		return err
	}
	t.limits, t.group = view.Limits, t.executor.groups.Begin(view.Limits)
	policy := plan(view)
	policy.Argv, policy.Env, policy.Dir, policy.Terminals = cmd.Argv, cmd.Env, cmd.Dir, cmd.Terminals
	if t.executor.opt.Network != nil && !view.FullNetwork {
		if t.passage, err = t.executor.opt.Network.Begin(ctx, cmd.Call); err != nil {
			return fmt.Errorf("open its way into the network: %w", err)
		}
		policy.Env = merge(policy.Env, t.passage.Env())
		if policy.Listeners, err = listeners(t.passage.Listeners()); err != nil {
			return err
		}
	}
	if t.executor.maker == nil {
		t.policy, err = policy.Encode()
		return err
	}
	if t.made, err = t.executor.maker.Make(view, policy); err != nil {
		return err
	}
	t.policy = t.made.Message
	return nil
}

// connect makes the pair of sockets between Garuda and the stage, and returns the
// stage's end.
func (t *talk) connect() (*os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), unix.Close(pair[0]), unix.Close(pair[1]))
	}
	t.control = os.NewFile(uintptr(pair[0]), "sandbox control")
	return os.NewFile(uintptr(pair[1]), "sandbox stage"), nil
}

// Begin tells the stage what to do and waits until the command runs.
func (t *talk) Begin(pid int) error {
	defer t.leave()
	defer t.release()
	if err := t.control.SetDeadline(time.Now().Add(beginLimit)); err != nil {
		return err
	}
	for {
		kind, body, files, err := t.receive()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Errorf("the sandbox was not ready within %v; a disk that it shows may not answer: %w", beginLimit, err)
		case errors.Is(err, io.EOF):
			return t.silence()
		case err != nil:
			return fmt.Errorf("hear from the sandbox: %w", err)
		}
		if done, err := t.hear(pid, kind, body, files); done || err != nil {
			return err
		}
	}
}

// hear does what one reply of the beginning asks for; done means that the command runs.
func (t *talk) hear(pid int, kind stage.Reply, body []byte, files []*os.File) (done bool, err error) {
	switch {
	case kind == stage.Ready && t.made != nil:
		return false, t.tell()
	case kind == stage.Ready:
		t.offer(pid)
		if err := identify(pid); err != nil {
			return false, fmt.Errorf("set up its sandbox, step identity: %w; the command did not run", err)
		}
		return false, t.tell()
	case kind == stage.Failed:
		return false, failed(body)
	case kind == stage.Network && t.passage != nil:
		if err := t.passage.Serve(files); err != nil {
			return false, fmt.Errorf("serve its network: %w", err)
		}
		return false, nil
	case kind == stage.Running:
		return true, t.control.SetDeadline(time.Time{})
	}
	closeFiles(files)
	return false, fmt.Errorf("hear from the sandbox: it said %q, which means nothing here", byte(kind))
}

// offer has the kernel, when the machine runs out of memory, end the command before
// anything of the user's.
func (t *talk) offer(pid int) {
	err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(stage.OutOfMemory), 0)
	if err != nil && !errors.Is(err, os.ErrPermission) { // a higher number was given for good
		t.executor.opt.Report(fmt.Errorf("offer a command for the case that memory runs out: %w", err))
	}
}

// identify makes the user and group of the stage those of Garuda, and forbids it all
// others. The stage waits meanwhile.
func identify(pid int) error {
	for _, f := range []struct {
		name string
		id   int
	}{{"uid_map", os.Geteuid()}, {"setgroups", -1}, {"gid_map", os.Getegid()}} {
		text := "deny"
		if f.id >= 0 {
			text = fmt.Sprintf("%d %d 1", f.id, f.id)
		}
		file, err := os.OpenFile(fmt.Sprintf("/proc/%d/%s", pid, f.name), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.WriteString(text)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// tell sends the policy.
func (t *talk) tell() error {
	message := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(t.policy)), uint64(len(t.policy)))
	if _, err := t.control.Write(append(message, t.policy...)); err != nil {
		return fmt.Errorf("tell the sandbox what to do: %w", err)
	}
	t.policy = nil
	return nil
}

// Wait returns how the command ended.
func (t *talk) Wait() (proc.Exit, bool) {
	kind, body, files, err := t.receive()
	closeFiles(files)
	if err != nil || kind != stage.Exited || len(body) != 4 {
		return proc.Exit{}, false // the end of the first process says the rest
	}
	return proc.ExitOf(syscall.WaitStatus(binary.LittleEndian.Uint32(body))), true
}

// Terminate asks everything in the namespace to end.
func (t *talk) Terminate() {
	_, _ = t.control.Write([]byte{byte(unix.SIGTERM)}) // one that has ended hears nothing, as wanted
}

// end gives back what the command held.
func (t *talk) end(res *sandbox.Result) {
	if t.leave != nil {
		t.leave()
	}
	t.release()
	if t.control != nil {
		_ = t.control.Close() // nothing was buffered
	}
	if t.passage != nil {
		res.Refused = append(res.Refused, t.passage.Close()...)
	}
	if t.limits.FileBytes > 0 && wrapped.EndedFor(res, "SIGXFSZ", int(unix.SIGXFSZ)) {
		res.Hit = append(res.Hit, sandbox.LimitFileSize)
	}
	t.group.End(res)
	if err := t.executor.places.release(t.held); err != nil {
		t.executor.opt.Report(fmt.Errorf("remove what was made to be locked: %w", err))
	}
}

// receive reads one reply. The files are the caller's.
func (t *talk) receive() (kind stage.Reply, body []byte, files []*os.File, err error) {
	head := make([]byte, stage.ReplyHead)
	n, files, err := t.receiveHead(head)
	if err == nil && n < len(head) {
		_, err = io.ReadFull(t.control, head[n:])
	}
	if err == nil {
		size := binary.LittleEndian.Uint32(head[1:])
		if size > stage.ReplyLimit {
			err = fmt.Errorf("a reply of %d bytes", size)
		} else {
			body = make([]byte, size)
			_, err = io.ReadFull(t.control, body)
		}
	}
	if err != nil {
		closeFiles(files)
		return 0, nil, nil, err
	}
	return stage.Reply(head[0]), body, files, nil
}

// receiveHead reads the beginning of a reply with the descriptors that came along.
func (t *talk) receiveHead(head []byte) (n int, files []*os.File, err error) {
	conn, err := t.control.SyscallConn()
	if err != nil {
		return 0, nil, err
	}
	rights := make([]byte, unix.CmsgSpace(4*maxListeners))
	var got int
	var failure error
	err = conn.Read(func(fd uintptr) bool {
		for {
			n, got, _, _, failure = unix.Recvmsg(int(fd), head, rights, unix.MSG_CMSG_CLOEXEC)
			if !errors.Is(failure, unix.EINTR) {
				return !errors.Is(failure, unix.EAGAIN)
			}
		}
	})
	if err := errors.Join(err, failure); err != nil {
		return 0, nil, err
	}
	if n == 0 {
		return 0, nil, io.EOF
	}
	messages, err := unix.ParseSocketControlMessage(rights[:got])
	if err != nil {
		return 0, nil, err
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			closeFiles(files)
			return 0, nil, err
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "listener"))
		}
	}
	return n, files, nil
}

// failed reads what a stage says of its failure.
func failed(body []byte) error {
	step, what, ok := bytes.Cut(body[min(4, len(body)):], []byte{0})
	if !ok {
		return errors.New("set up its sandbox: the stage failed and did not say why; the command did not run")
	}
	e := &StepError{Step: string(step), What: string(what), Errno: syscall.Errno(binary.LittleEndian.Uint32(body))}
	if e.Step == "program" && e.Errno == syscall.ENOENT {
		return fmt.Errorf("%w: %s, as the sandbox shows the machine", proc.ErrNotFound, e.What)
	}
	return e
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nobody used it
	}
}
