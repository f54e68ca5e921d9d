// dlsym, dlopen and dlmopen of the program. In assembly, since C++ functions could not pass on
// their caller: each jumps to the C library's function, after a call of its slow path
// (symbol_lookup.cc) where there is something to do. The arguments survive that call, and the stack
// is aligned for it.

#ifdef __x86_64__

asm(R"(
  .pushsection .text
  .macro rubato_call function
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  call \function
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  .endm

  .globl dlsym
  .type dlsym, @function
  .p2align 4
dlsym:
  .cfi_startproc
  cmpq $0, rubato_real_dlsym(%rip)
  je 1f
  cmpb $0, rubato_deepbind_pending(%rip)
  jne 1f
  movzbl (%rsi), %eax
  cmpb $77, %al                   # 'M'
  je 1f
  cmpb $80, %al                   # 'P'
  je 1f
  jmp *rubato_real_dlsym(%rip)
1:
  movq (%rsp), %rdx               # the return address
  rubato_call rubato_dlsym_slowly
  testq %rax, %rax
  jne 2f
  jmp *rubato_real_dlsym(%rip)
2:
  ret
  .cfi_endproc
  .size dlsym, .-dlsym

  .globl dlopen
  .type dlopen, @function
  .p2align 4
dlopen:
  .cfi_startproc
  cmpq $0, rubato_real_dlopen(%rip)
  je 1f
  testb $8, %sil                  # RTLD_DEEPBIND
  jne 1f
  jmp *rubato_real_dlopen(%rip)
1:
  rubato_call rubato_dlopen_slowly  # flags are its second argument, too
  jmp *rubato_real_dlopen(%rip)
  .cfi_endproc
  .size dlopen, .-dlopen

  .globl dlmopen
  .type dlmopen, @function
  .p2align 4
dlmopen:
  .cfi_startproc
  movb $1, rubato_other_namespace(%rip)
  cmpq $0, rubato_real_dlmopen(%rip)
  jne 1f
  rubato_call rubato_find_loader
1:
  jmp *rubato_real_dlmopen(%rip)
  .cfi_endproc
  .size dlmopen, .-dlmopen
  .purgem rubato_call
  .popsection
)");

#else

asm(R"(
  .pushsection .text
  .macro rubato_call function       // returns in x17
  stp x29, x30, [sp, -48]!
  .cfi_adjust_cfa_offset 48
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  mov x29, sp
  stp x0, x1, [sp, 16]
  str x2, [sp, 32]
  bl \function
  mov x17, x0
  ldp x0, x1, [sp, 16]
  ldr x2, [sp, 32]
  ldp x29, x30, [sp], 48
  .cfi_adjust_cfa_offset -48
  .cfi_restore x29
  .cfi_restore x30
  .endm
  .macro rubato_load register, place
  adrp \register, \place
  ldr \register, [\register, :lo12:\place]
  .endm

  .globl dlsym
  .type dlsym, %function
  .p2align 4
dlsym:
  .cfi_startproc
  rubato_load x16, rubato_real_dlsym
  cbz x16, 1f
  adrp x17, rubato_deepbind_pending
  ldrb w17, [x17, :lo12:rubato_deepbind_pending]
  cbnz w17, 1f
  ldrb w17, [x1]
  cmp w17, 77                       // 'M'
  b.eq 1f
  cmp w17, 80                       // 'P'
  b.eq 1f
  br x16
1:
  mov x2, x30                       // the return address
  rubato_call rubato_dlsym_slowly
  cbnz x17, 2f
  rubato_load x16, rubato_real_dlsym
  br x16
2:
  mov x0, x17
  ret
  .cfi_endproc
  .size dlsym, .-dlsym

  .globl dlopen
  .type dlopen, %function
  .p2align 4
dlopen:
  .cfi_startproc
  rubato_load x16, rubato_real_dlopen
  cbz x16, 1f
  tbnz w1, 3, 1f                    // RTLD_DEEPBIND
  br x16
1:
  rubato_call rubato_dlopen_slowly  // flags are its second argument, too
  rubato_load x16, rubato_real_dlopen
  br x16
  .cfi_endproc
  .size dlopen, .-dlopen

  .globl dlmopen
  .type dlmopen, %function
  .p2align 4
dlmopen:
  .cfi_startproc
  mov w16, 1
  adrp x17, rubato_other_namespace
  strb w16, [x17, :lo12:rubato_other_namespace]
  rubato_load x16, rubato_real_dlmopen
  cbnz x16, 1f
  rubato_call rubato_find_loader
  rubato_load x16, rubato_real_dlmopen
1:
  br x16
  .cfi_endproc
  .size dlmopen, .-dlmopen
  .purgem rubato_call
  .purgem rubato_load
  .popsection
)");

#endif
