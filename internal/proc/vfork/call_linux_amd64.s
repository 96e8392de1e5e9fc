#include "textflag.h"

// func cloneCall(flags uintptr) (pid, errno uintptr)
//
// The child returns first, on this very stack, and its calls write over what lies
// below. The place to return to is kept in a register meanwhile, which each of the
// two has for itself.
TEXT ·cloneCall(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ	flags+0(FP), DI
	XORL	SI, SI	// the parent's stack
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	MOVL	$56, AX	// clone
	POPQ	R12
	SYSCALL
	PUSHQ	R12
	CMPQ	AX, $0xfffffffffffff001
	JCS	ok
	NEGQ	AX
	MOVQ	$0, pid+8(FP)
	MOVQ	AX, errno+16(FP)
	RET

ok:
	MOVQ	AX, pid+8(FP)
	MOVQ	$0, errno+16(FP)
	RET
