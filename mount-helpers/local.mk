# mount(8) helper, units and completion. The helper is made here because it knows where the daemon
# is installed; the rest is copied as it is.
mounthelper_SCRIPTS = mount-helpers/mount.lancefs
dist_systemdsystemunit_DATA = mount-helpers/lancefs@.service
exampledir = $(docdir)/examples
dist_example_DATA = mount-helpers/example.mount mount-helpers/example.automount \
	mount-helpers/PRUNEFS.md

# bash looks a completion up by the name of the command.
completions = mount-helpers/completions/lancefs mount-helpers/completions/lancet \
	mount-helpers/completions/mount.lancefs
bashcompletion_DATA = $(completions)

EXTRA_DIST += mount-helpers/mount.lancefs.in mount-helpers/lancefs.bash-completion \
	tests/helpers/mount_lancefs.sh
CLEANFILES += mount-helpers/mount.lancefs $(completions)
TESTS += tests/helpers/mount_lancefs.sh

mount-helpers/mount.lancefs: mount-helpers/mount.lancefs.in Makefile
	$(AM_V_GEN)$(MKDIR_P) mount-helpers && \
	sed 's|@bindir[@]|$(bindir)|g' $(srcdir)/mount-helpers/mount.lancefs.in > $@.tmp && \
	chmod +x $@.tmp && mv $@.tmp $@

$(completions): mount-helpers/lancefs.bash-completion
	$(AM_V_GEN)$(MKDIR_P) mount-helpers/completions && \
	cp $(srcdir)/mount-helpers/lancefs.bash-completion $@
