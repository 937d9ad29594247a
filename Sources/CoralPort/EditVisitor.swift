#if Macros
    /// Collects the replacements of one file.
    class EditVisitor: CompiledCodeVisitor {
        final var edits: [SourceEdit] = []
    }

    extension PackageIndex {
        /// The replacements in all files that contain one of some texts, without which a file needs none. A new visitor collects those
        /// of each file.
        func edits(containing texts: [String], by makeVisitor: (SourceFile) -> EditVisitor) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in files(containing: texts) {
                let visitor = makeVisitor(file)
                visitor.walk(file.tree)
                edits.add(visitor.edits, to: index)
            }
            return edits
        }
    }
#endif
