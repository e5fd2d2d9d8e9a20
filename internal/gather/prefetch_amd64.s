#include "textflag.h"

// func prefetch(p unsafe.Pointer, step, n int64)
TEXT ·prefetch(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), AX
	MOVQ step+8(FP), BX
	MOVQ n+16(FP), CX

next:
	PREFETCHT1 (AX)
	ADDQ       BX, AX
	DECQ       CX
	JGT        next
	RET
