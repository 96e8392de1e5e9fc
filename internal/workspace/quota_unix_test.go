//go:build unix

package workspace

import "syscall"

const errQuota = syscall.EDQUOT
