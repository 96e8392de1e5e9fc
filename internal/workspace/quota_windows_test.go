package workspace

import "syscall"

const errQuota = syscall.Errno(1295) // ERROR_DISK_QUOTA_EXCEEDED
