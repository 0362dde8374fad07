# A disk whose boot sector counts, and asks a port that is not there: in al,0x80; inc cx; jnz; jmp.
printf '\344\200\101\165\373\353\371' > disk
dd if=/dev/zero of=disk bs=1 seek=7 count=503 status=none
printf '\125\252' >> disk
