#if Macros
    import SwiftSyntax

    /// `Note.fetchRequest() as! NSFetchRequest<Note>` becomes `NSFetchRequest<Note>(entityName: Note.entity().name!)`, the same
    /// request on all platforms; with `as?` it becomes an optional. For a forced cast of another request, the statement is
    /// written twice, for each kind of platform in a branch of `#if`.
    struct RequestCastRewrite: Rewrite {
        /// The maximum number of lines of a statement that is written twice. Longer statements must be changed by hand.
        private static let longestStatement = 6

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
            guard cast.mark == "!", let statement = cast.value.enclosing(CodeBlockItemSyntax.self),
                file.beginsLine(statement.codeRange.lowerBound)
            else { return nil }
            let text = statement.trimmedDescription
            guard text.split(whereSeparator: \.isNewline).count <= Self.longestStatement else { return nil }
            let range = statement.codeRange
            let part = SourceEdit(
                (cast.range.lowerBound - range.lowerBound)..<(cast.range.upperBound - range.lowerBound),
                "\(type)(\(value))")
            let other = SourceEdit.apply([part], to: text)
            return SourceEdit(
                range, file.conditional(text, else: other, indentation: file.indentation(at: range.lowerBound)))
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
