package secret

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxEnviron bounds what is read of the kernel's copy; the kernel itself allows
// a few megabytes.
const maxEnviron = 16 << 20

// hide overwrites the values of these variables in the memory that the kernel
// shows as /proc/PID/environ, and then makes the process undumpable. In this
// order, because an undumpable process may no longer open its own memory. It
// returns what went wrong, a line each.
func hide(secrets map[string]string) (warnings []string) {
	if len(secrets) > 0 {
		if err := overwriteEnviron(secrets); err != nil {
			warnings = append(warnings, fmt.Sprintf("the kernel's copy of the environment still holds %d secret variables: %v", len(secrets), err))
		}
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		warnings = append(warnings, fmt.Sprintf("other processes of yours may read this one's memory: prctl: %v", err))
	}
	return warnings
}

func overwriteEnviron(secrets map[string]string) error {
	stat, err := os.ReadFile("/proc/self/stat")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no /proc: nobody can read it there
	}
	if err != nil {
		return err
	}
	start, end, err := environRange(stat)
	if err != nil {
		return err
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	block := make([]byte, end-start)
	if _, err := mem.ReadAt(block, start); err != nil {
		return errors.Join(fmt.Errorf("read it: %w", err), mem.Close())
	}
	err = eachValue(block, secrets, func(from, to int) error {
		_, err := mem.WriteAt(make([]byte, to-from), start+int64(from))
		return err
	})
	clear(block)
	if err != nil {
		return errors.Join(fmt.Errorf("overwrite it: %w", err), mem.Close())
	}
	return mem.Close()
}

// eachValue calls f with the place of each secret variable's value in a block
// of NAME=value entries, each ended by a NUL. A name may occur more than once.
func eachValue(block []byte, secrets map[string]string, f func(from, to int) error) error {
	for at := 0; at < len(block); {
		end := len(block)
		if n := bytes.IndexByte(block[at:], 0); n >= 0 {
			end = at + n
		}
		if eq := bytes.IndexByte(block[at:end], '='); eq > 0 {
			if _, secret := secrets[string(block[at:at+eq])]; secret && at+eq+1 < end {
				if err := f(at+eq+1, end); err != nil {
					return err
				}
			}
		}
		at = end + 1
	}
	return nil
}

// environRange finds env_start and env_end, fields 50 and 51 of proc_pid_stat(5).
// The second field, the program's name in parentheses, may itself hold spaces
// and parentheses, so fields are counted from the last ')'.
func environRange(stat []byte) (start, end int64, err error) {
	const envStart = 50 - 3 // the first field after the name is the third
	nameEnd := bytes.LastIndexByte(stat, ')')
	if nameEnd < 0 {
		return 0, 0, errors.New("/proc/self/stat has no program name")
	}
	fields := bytes.Fields(stat[nameEnd+1:])
	if len(fields) < envStart+2 {
		return 0, 0, errors.New("/proc/self/stat does not say where it is (Linux 3.5 or newer is needed)")
	}
	start, err1 := strconv.ParseInt(string(fields[envStart]), 10, 64)
	end, err2 := strconv.ParseInt(string(fields[envStart+1]), 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, fmt.Errorf("/proc/self/stat: %w", err)
	}
	if start <= 0 || end < start || end-start > maxEnviron {
		return 0, 0, fmt.Errorf("/proc/self/stat gives an impossible place for it (%d to %d)", start, end)
	}
	return start, end, nil
}
