# An installation: manual pages, the installed tree, Debian's packages.
PREFIX  ?= /usr/local
DESTDIR ?=

# Pages of commands are made from --help, those of functions from the headers (scripts/build/mkman).
MAN_DATE := $(or $(shell git log -1 --format=%cs 2>/dev/null),1970-01-01)
man:
	$(call say,MAN,build/man)
	$(Q)rm -rf build/man
	$(Q)scripts/build/mkman -o build/man --date $(MAN_DATE)
	$(Q)scripts/package/command-pages build/man $(MAN_DATE)

install: man
	$(Q)$(MAKE) --no-print-directory all host-tools
	$(call say,COPY,$(DESTDIR)$(PREFIX))
	$(Q)scripts/install '$(PREFIX)' '$(DESTDIR)'

# Debian's packages of the commit that is checked out, into build/deb.
deb:
	$(Q)scripts/package/make-deb build/deb
# Images, packages, a tarball and a tag, of a commit without changes.
release:
	$(Q)scripts/package/make-release build/release/$(shell cat VERSION)
