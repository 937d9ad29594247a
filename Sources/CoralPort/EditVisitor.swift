#if Macros
    /// Collects the replacements of one file.
    class EditVisitor: CompiledCodeVisitor {
        final var edits: [SourceEdit] = []
    }

    extension PackageIndex {
        /// The replacements in all files. A new visitor collects those of each file.
        func edits(by makeVisitor: (SourceFile) -> EditVisitor) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in files.enumerated() {
                let visitor = makeVisitor(file)
                visitor.walk(file.tree)
                edits.add(visitor.edits, to: index)
            }
            return edits
        }
    }
#endif
