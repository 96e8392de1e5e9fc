#include "textflag.h"

// func cloneCall(trap, a1, a2 uintptr) (pid, errno uintptr)
//
// The child returns first, on this very stack, and its calls write over what lies
// below. The place to return to is kept in a register meanwhile, which each of the
// two has for itself.
TEXT ·cloneCall(SB), NOSPLIT|NOFRAME, $0-40
	MOVQ	trap+0(FP), AX
	MOVQ	a1+8(FP), DI
	MOVQ	a2+16(FP), SI
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	POPQ	R12
	SYSCALL
	PUSHQ	R12
	CMPQ	AX, $0xfffffffffffff001
	JCS	ok
	NEGQ	AX
	MOVQ	$0, pid+24(FP)
	MOVQ	AX, errno+32(FP)
	RET

ok:
	MOVQ	AX, pid+24(FP)
	MOVQ	$0, errno+32(FP)
	RET
