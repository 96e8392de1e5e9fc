package proc

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const noFollow = 0 // O_EXCL alone refuses what stands in the way

// ending a process: Windows has a request only for console programs, so TERM is
// Ctrl-Break to the group, and KILL ends the job.
type signalKind int

const (
	terminate signalKind = iota
	kill
)

// tree is the job object that holds the command and what it starts, and how
// the command ended.
type tree struct {
	job   windows.Handle
	state *os.ProcessState
}

func adoptOrphans() error { return nil }
func ownSession() int     { return 0 }

// attributes: a process begins suspended, so that it is in its job before it can
// start anything; started lets it go on.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED, HideWindow: true}
}

// sealDescriptors: a child gets only the handles that are listed for it.
func sealDescriptors() error { return nil }

func outPipe() (r, w *os.File, err error) { return os.Pipe() }
func inPipe() (r, w *os.File, err error)  { return os.Pipe() }

// started puts the process into a job that ends with its last handle, which is
// ours: also when Garuda is killed. Then the process runs.
func (p *Process) started() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("make its job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))) //nolint:gosec // the call takes it by address
	if err == nil {
		var assignErr error
		err = p.os.WithHandle(func(h uintptr) { assignErr = windows.AssignProcessToJobObject(job, windows.Handle(h)) })
		err = errors.Join(err, assignErr)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("put it into a job object: %w", err), windows.CloseHandle(job))
	}
	if err := resume(uint32(p.pid)); err != nil {
		// The end of the job is the end of the process.
		return errors.Join(fmt.Errorf("let it run: %w", err), windows.CloseHandle(job))
	}
	p.tree.job = job
	return nil
}

// resume lets a suspended process run. Its handle is not enough for that, and package
// os does not keep the one of its thread, so that is looked for.
func resume(pid uint32) (err error) {
	threads, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer func() { err = errors.Join(err, windows.CloseHandle(threads)) }()
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	resumed := false
	for err = windows.Thread32First(threads, &entry); err == nil; err = windows.Thread32Next(threads, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		if err := resumeThread(entry.ThreadID); err != nil {
			return err
		}
		resumed = true
	}
	switch {
	case !errors.Is(err, windows.ERROR_NO_MORE_FILES):
		return fmt.Errorf("list threads: %w", err)
	case !resumed:
		return errors.New("it has no thread")
	}
	return nil
}

func resumeThread(id uint32) error {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return fmt.Errorf("open its thread: %w", err)
	}
	_, err = windows.ResumeThread(thread)
	return errors.Join(err, windows.CloseHandle(thread))
}

func (p *Process) awaitExit() {
	state, err := p.os.Wait()
	if err != nil {
		p.sup.report(fmt.Errorf("learn how process %d ended: %w", p.pid, err))
		return
	}
	p.tree.state = state
}

// signal: a failure means that nothing is left to be ended.
func (p *Process) signal(k signalKind) {
	if k == terminate {
		_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.pid))
		return
	}
	_ = windows.TerminateJobObject(p.tree.job, 1)
}

// settle has no use here: what is left is not counted.
func (p *Process) settle() {}

// endRest ends what is left in the job. How many there were is not counted.
func (p *Process) endRest(time.Time) int {
	p.signal(kill)
	return 0
}

func (p *Process) reap() *os.ProcessState {
	_ = windows.CloseHandle(p.tree.job) // a handle of our own that is open
	return p.tree.state
}

func (s *Supervisor) endStrays() {}

func exitOf(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

// ownIdentity needs no time of start: nothing is recorded on Windows.
func ownIdentity() (identity, error) { return identity{Pid: os.Getpid()}, nil }

func place() (boot, namespace string, err error) { return "", "", nil }
