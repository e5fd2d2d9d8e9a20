#include "go_asm.h"
#include "textflag.h"

// The tables contain, at 0, 16 zero bytes followed by 16 bytes of ones: the 16 bytes from byte n on
// select the last n lanes of a register; at 32, the powers of ten from 0 to 16; at 288, the same
// negated, so that a division also sets the sign.
DATA tables<>+0(SB)/8, $0
DATA tables<>+8(SB)/8, $0
DATA tables<>+16(SB)/8, $-1
DATA tables<>+24(SB)/8, $-1
DATA tables<>+32(SB)/8, $1e0
DATA tables<>+40(SB)/8, $1e1
DATA tables<>+48(SB)/8, $1e2
DATA tables<>+56(SB)/8, $1e3
DATA tables<>+64(SB)/8, $1e4
DATA tables<>+72(SB)/8, $1e5
DATA tables<>+80(SB)/8, $1e6
DATA tables<>+88(SB)/8, $1e7
DATA tables<>+96(SB)/8, $1e8
DATA tables<>+104(SB)/8, $1e9
DATA tables<>+112(SB)/8, $1e10
DATA tables<>+120(SB)/8, $1e11
DATA tables<>+128(SB)/8, $1e12
DATA tables<>+136(SB)/8, $1e13
DATA tables<>+144(SB)/8, $1e14
DATA tables<>+152(SB)/8, $1e15
DATA tables<>+160(SB)/8, $1e16
DATA tables<>+288(SB)/8, $-1e0
DATA tables<>+296(SB)/8, $-1e1
DATA tables<>+304(SB)/8, $-1e2
DATA tables<>+312(SB)/8, $-1e3
DATA tables<>+320(SB)/8, $-1e4
DATA tables<>+328(SB)/8, $-1e5
DATA tables<>+336(SB)/8, $-1e6
DATA tables<>+344(SB)/8, $-1e7
DATA tables<>+352(SB)/8, $-1e8
DATA tables<>+360(SB)/8, $-1e9
DATA tables<>+368(SB)/8, $-1e10
DATA tables<>+376(SB)/8, $-1e11
DATA tables<>+384(SB)/8, $-1e12
DATA tables<>+392(SB)/8, $-1e13
DATA tables<>+400(SB)/8, $-1e14
DATA tables<>+408(SB)/8, $-1e15
DATA tables<>+416(SB)/8, $-1e16
GLOBL tables<>(SB), RODATA|NOPTR, $424

DATA zeros<>+0(SB)/8, $0x3030303030303030
GLOBL zeros<>(SB), RODATA|NOPTR, $8

DATA nines<>+0(SB)/8, $0x0909090909090909
GLOBL nines<>(SB), RODATA|NOPTR, $8

// The factors of adjacent digits, pairs of digits and groups of four digits.
DATA ones<>+0(SB)/8, $0x010a010a010a010a
GLOBL ones<>(SB), RODATA|NOPTR, $8

DATA pairs<>+0(SB)/8, $0x0001006400010064
GLOBL pairs<>(SB), RODATA|NOPTR, $8

DATA fours<>+0(SB)/8, $0x0001271000012710
GLOBL fours<>(SB), RODATA|NOPTR, $8

// func mark(marks *uint64, text *byte, blocks int)
TEXT ·mark(SB), NOSPLIT, $0-24
	MOVQ         marks+0(FP), DI
	MOVQ         text+8(FP), SI
	MOVQ         blocks+16(FP), CX
	VPBROADCASTQ zeros<>(SB), Y14
	VPBROADCASTQ nines<>(SB), Y15

block:
	VMOVDQU   0(SI), Y0
	VMOVDQU   32(SI), Y1
	VPSUBB    Y14, Y0, Y0
	VPSUBB    Y14, Y1, Y1
	VPMINUB   Y15, Y0, Y2
	VPMINUB   Y15, Y1, Y3
	VPCMPEQB  Y2, Y0, Y0
	VPCMPEQB  Y3, Y1, Y1
	VPMOVMSKB Y0, AX
	VPMOVMSKB Y1, BX
	SHLQ      $32, BX
	ORQ       BX, AX
	NOTQ      AX
	MOVQ      AX, (DI)
	ADDQ      $64, SI
	ADDQ      $8, DI
	DECQ      CX
	JNZ       block
	VZEROUPPER
	RET

// func read(r *Rows)
//
// SI is the text, R8 the marks, R9 the column, R10 the tables, R11 the row, and R12 the offset of
// the cell. BX is 1 if the cell has a minus sign, CX is its number of digits, and DX the number of
// those after the decimal mark. AX is the byte after the cell and then the mantissa, and R13 is the
// offset of the next cell.
TEXT ·read(SB), NOSPLIT, $0-8
	MOVQ         r+0(FP), DI
	MOVQ         Rows_text(DI), SI
	MOVQ         Rows_marks(DI), R8
	LEAQ         tables<>(SB), R10
	MOVQ         Rows_Row(DI), R11
	MOVQ         Rows_At(DI), R12
	IMUL3Q       $Column__size, Rows_Column(DI), R9
	ADDQ         Rows_columns(DI), R9
	VPBROADCASTQ zeros<>(SB), X9
	VPBROADCASTQ ones<>(SB), X10
	VPBROADCASTQ pairs<>(SB), X11
	VPBROADCASTQ fours<>(SB), X12
	VPXOR        X13, X13, X13

cell:
	CMPB  Column_kind(R9), $const_Other
	JEQ   out
	XORL  BX, BX
	CMPB  (SI)(R12*1), $45
	SETEQ BX
	MOVQ  R12, DX
	SHRQ  $3, DX
	MOVL  R12, CX
	ANDL  $7, CX
	SHRXQ CX, (R8)(DX*1), AX
	ANDNQ AX, BX, AX              // without the minus
	TZCNTQ AX, CX
	LEAQ  (R12)(CX*1), R13
	CMPB  Column_kind(R9), $const_Int64
	JEQ   whole
	MOVBLZX Rows_point(DI), DX
	CMPB  (SI)(R13*1), DX
	JNE   whole

	// A decimal mark: the text after it, and the text before it shifted by one byte.
	BLSRQ   AX, AX
	TZCNTQ  AX, AX
	MOVQ    AX, DX
	SUBQ    CX, DX
	DECQ    DX
	LEAQ    -1(AX), CX
	SUBQ    BX, CX
	ADDQ    R12, AX
	LEAQ    -1(CX), R13
	CMPQ    R13, $16
	JAE     out
	VMOVDQU -16(SI)(AX*1), X0
	VMOVDQU -17(SI)(AX*1), X1
	VMOVDQU (R10)(DX*1), X2
	VPBLENDVB X2, X0, X1, X0
	JMP     digits

whole:
	MOVQ    R13, AX
	SUBQ    BX, CX
	XORL    DX, DX
	LEAQ    -1(CX), R13
	CMPQ    R13, $16
	JAE     out
	VMOVDQU -16(SI)(AX*1), X0

digits:
	LEAQ    1(AX), R13
	MOVBLZX Column_stop(R9), R15
	CMPB    (SI)(AX*1), R15
	JNE     carriage

ended:
	VPSUBB     X9, X0, X0
	VPAND      (R10)(CX*1), X0, X0
	VPMADDUBSW X10, X0, X0
	VPMADDWD   X11, X0, X0
	VPACKUSDW  X0, X0, X0
	VPMADDWD   X12, X0, X0
	VMOVQ      X0, AX
	MOVL       AX, CX
	IMUL3Q     $100000000, CX, CX
	SHRQ       $32, AX
	ADDQ       CX, AX
	MOVQ       Column_step(R9), R15
	IMULQ      R11, R15
	ADDQ       Column_to(R9), R15
	CMPB       Column_kind(R9), $const_Int64
	JEQ        integer
	MOVQ       AX, CX
	SHRQ       $53, CX
	JNZ        out
	VCVTSI2SDQ AX, X13, X0
	SHLQ       $5, BX
	ADDQ       DX, BX
	VDIVSD     32(R10)(BX*8), X0, X0
	VMOVSD     X0, (R15)

next:
	MOVQ R13, R12
	ADDQ $Column__size, R9
	CMPQ R9, Rows_end(DI)
	JB   cell
	MOVQ Rows_columns(DI), R9
	MOVQ R12, Rows_Start(DI)
	INCQ R11
	CMPQ R11, Rows_rows(DI)
	JB   cell

out:
	MOVQ R11, Rows_Row(DI)
	MOVQ R12, Rows_At(DI)
	SUBQ Rows_columns(DI), R9
	MOVQ R9, AX
	XORL DX, DX
	MOVQ $Column__size, CX
	DIVQ CX
	MOVQ AX, Rows_Column(DI)
	RET

integer:
	NEGQ BX
	XORQ BX, AX
	SUBQ BX, AX
	MOVQ AX, (R15)
	JMP  next

carriage:
	CMPB R15, $10
	JNE  out
	CMPW (SI)(AX*1), $0x0a0d
	JNE  out
	INCQ R13
	JMP  ended
