dist_man_MANS += doc/lancefs.1 doc/lancet.1 doc/lancefs-tree.5 doc/lancefs-control.5 doc/mount.lancefs.8
dist_doc_DATA = doc/architecture.md
