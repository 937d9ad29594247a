#if Macros
    /// Replacements in the files of a package.
    struct PackageEdits {
        /// The replacements, by the index of their file in ``PackageIndex/files``.
        private(set) var edits: [Int: [SourceEdit]] = [:]

        var isEmpty: Bool { edits.isEmpty }

        mutating func add(_ edit: SourceEdit, to file: Int) { edits[file, default: []].append(edit) }

        mutating func add(_ new: [SourceEdit], to file: Int) {
            if !new.isEmpty { edits[file, default: []] += new }
        }
    }

    /// One kind of rewriting. A rewrite is idempotent, and does not change code that is compiled on Apple's platforms only.
    protocol Rewrite {
        /// The replacements in a package. If some overlap, only the first of them is applied, and the rewrite runs again on the
        /// result.
        func edits(in package: PackageIndex) -> PackageEdits
    }
#endif
