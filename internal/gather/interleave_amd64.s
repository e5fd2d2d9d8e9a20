#include "textflag.h"

// func interleave8(dst unsafe.Pointer, step int64, sources *[8]unsafe.Pointer, offset, n int64)
//
// It writes four rows an iteration. Each register has four values of a column and of the fourth
// column after it, so that two rounds of unpacking halves give whole rows.
TEXT ·interleave8(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ step+8(FP), DX
	MOVQ sources+16(FP), AX
	MOVQ offset+24(FP), CX
	MOVQ 0(AX), R8
	MOVQ 8(AX), R9
	MOVQ 16(AX), R10
	MOVQ 24(AX), R11
	MOVQ 32(AX), R12
	MOVQ 40(AX), R13
	MOVQ 48(AX), SI
	MOVQ 56(AX), BX
	MOVQ n+32(FP), AX

next:
	VMOVUPS     (R8)(CX*1), X0
	VMOVUPS     (R9)(CX*1), X1
	VMOVUPS     (R10)(CX*1), X2
	VMOVUPS     (R11)(CX*1), X3
	VINSERTF128 $1, (R12)(CX*1), Y0, Y0
	VINSERTF128 $1, (R13)(CX*1), Y1, Y1
	VINSERTF128 $1, (SI)(CX*1), Y2, Y2
	VINSERTF128 $1, (BX)(CX*1), Y3, Y3
	VUNPCKLPS   Y1, Y0, Y4
	VUNPCKHPS   Y1, Y0, Y5
	VUNPCKLPS   Y3, Y2, Y6
	VUNPCKHPS   Y3, Y2, Y7
	VUNPCKLPD   Y6, Y4, Y0
	VUNPCKHPD   Y6, Y4, Y1
	VUNPCKLPD   Y7, Y5, Y2
	VUNPCKHPD   Y7, Y5, Y3
	VMOVUPS     Y0, (DI)
	VMOVUPS     Y1, (DI)(DX*1)
	LEAQ        (DI)(DX*2), DI
	VMOVUPS     Y2, (DI)
	VMOVUPS     Y3, (DI)(DX*1)
	LEAQ        (DI)(DX*2), DI
	ADDQ        $16, CX
	SUBQ        $4, AX
	JGT         next
	VZEROUPPER
	RET
