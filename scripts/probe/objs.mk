# A small guest by which scripts/barecpc proves an accelerator before it trusts it.
$(B)/probe: scripts/probe/$(ARCH).S scripts/probe/$(ARCH).ld
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(if $(filter x86_64,$(ARCH)),-m32) -nostdlib -static -no-pie -Wl,--no-warn-rwx-segments \
	    -Wl,-z,noexecstack -Wl,--build-id=none -T scripts/probe/$(ARCH).ld -o $@.elf $<
	$(Q)$(OBJCOPY) -S $(if $(filter arm64,$(ARCH)),-O binary) $@.elf $@
