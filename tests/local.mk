include tests/fuzz/local.mk
include tests/unit/local.mk
include tests/lint/local.mk
include tests/mount/local.mk
include tests/interop/local.mk
include tests/bench/local.mk
