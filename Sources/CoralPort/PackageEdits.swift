#if Macros
    /// Replacements in the files of a package.
    struct PackageEdits {
        /// The replacements by the index of the file.
        private(set) var edits: [Int: [SourceEdit]] = [:]

        var isEmpty: Bool { edits.isEmpty }

        mutating func add(_ edit: SourceEdit, to file: Int) { edits[file, default: []].append(edit) }

        mutating func add(_ new: [SourceEdit], to file: Int) {
            if !new.isEmpty { edits[file, default: []] += new }
        }
    }

    /// A kind of rewriting. Each is idempotent, and code that is only compiled on Apple's platforms remains.
    protocol Rewrite {
        /// The replacements in a package. Of replacements that overlap only the first is made; the rewriting then runs again.
        func edits(in package: PackageIndex) -> PackageEdits
    }
#endif
