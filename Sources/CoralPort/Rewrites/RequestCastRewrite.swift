#if Macros
    import SwiftSyntax

    /// `Note.fetchRequest() as! NSFetchRequest<Note>` becomes `NSFetchRequest<Note>(entityName: Note.entity().name!)`, the same
    /// request on all platforms; with `as?` it becomes an optional. For a forced cast of another request, the statement is
    /// written twice, for each kind of platform in a branch of `#if`.
    struct RequestCastRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files(containing: ["NSFetchRequest<"]) {
                for cast in Casts.all(in: file.tree) {
                    guard cast.mark != nil, cast.type.trimmedDescription.hasPrefix("NSFetchRequest<") else { continue }
                    if let edit = edit(of: cast, in: file) { edits.add(edit, to: index) }
                }
            }
            return edits
        }

        private func edit(of cast: Cast, in file: SourceFile) -> SourceEdit? {
            let value = cast.value.trimmedDescription
            let type = cast.type.trimmedDescription
            if let entity = Self.entity(of: value) {
                let request = "\(type)(entityName: \(entity).name!)"
                return SourceEdit(cast.range, cast.mark == "?" ? "Optional(\(request))" : request)
            }
            guard cast.mark == "!" else { return nil }
            return file.conditional(around: cast.value, replacing: cast.range, by: "\(type)(\(value))")
        }

        /// The entity of `Note.fetchRequest()` or `fetchRequest()` as an expression; nil for other requests.
        private static func entity(of value: String) -> String? {
            if value == "fetchRequest()" { return "entity()" }
            let call = ".fetchRequest()"
            guard value.hasSuffix(call), !value.hasPrefix("try") else { return nil }
            return value.dropLast(call.count) + ".entity()"
        }
    }
#endif
