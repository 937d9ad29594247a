#if Macros
    import SwiftSyntax

    /// Moves members of extensions into the bodies of their classes.
    struct MemberMove {
        /// A member with the changes that are made to its text.
        struct Member {
            let item: MemberBlockItemSyntax
            let edits: [SourceEdit]
        }

        /// The members of one extension that move.
        let members: [Member]
        let source: ExtensionDeclSyntax
        /// The index of the extension's file.
        let sourceFile: Int
        let target: PackageIndex.Class

        /// Adds the replacements in both files.
        func add(to edits: inout PackageEdits, in package: PackageIndex) {
            let file = package.files[sourceFile]
            if members.count == source.memberBlock.members.count, source.inheritanceClause == nil,
                source.genericWhereClause == nil
            {
                // The comment at the beginning of a file is not moved with the first declaration.
                let isFirst = source.position.utf8Offset == 0
                edits.add(SourceEdit(isFirst ? source.codeRange : source.wholeRange, ""), to: sourceFile)
            } else {
                for member in members { edits.add(SourceEdit(member.item.wholeRange, ""), to: sourceFile) }
            }
            let block = target.declaration.memberBlock
            let targetFile = package.files[target.file]
            let lineBreak = targetFile.lineBreak
            let texts = members.map { text(of: $0, lineBreak: lineBreak) }
            let end = block.rightBrace.positionAfterSkippingLeadingTrivia.utf8Offset
            if targetFile.beginsLine(end) {
                let last = (block.members.last?.endPosition ?? block.leftBrace.endPosition).utf8Offset
                let separator = block.members.isEmpty ? "" : lineBreak
                edits.add(SourceEdit(last..<last, separator + texts.map { lineBreak + $0 }.joined()), to: target.file)
            } else {
                let last =
                    (block.members.last?.endPositionBeforeTrailingTrivia
                    ?? block.leftBrace.endPositionBeforeTrailingTrivia)
                    .utf8Offset
                let indentation = targetFile.indentation(at: target.declaration.codeRange.lowerBound)
                edits.add(
                    SourceEdit(last..<end, texts.map { lineBreak + $0 }.joined() + lineBreak + indentation),
                    to: target.file)
            }
            if target.file != sourceFile {
                let present = Self.imports(of: targetFile)
                let missing = Self.imports(of: file).subtracting(present)
                edits.add(ImportRewrite.edits(importing: missing.sorted(), in: targetFile), to: target.file)
            }
        }

        /// The text of a member with its comments and the extension's access level, without empty lines before it.
        private func text(of member: Member, lineBreak: String) -> String {
            let start = member.item.position.utf8Offset
            var edits = member.edits
            if let access = source.modifiers.first(where: {
                ["public", "package", "fileprivate", "private"].contains($0.name.text)
            }),
                let position = Self.positionOfAccess(of: member.item.decl)
            {
                edits.append(SourceEdit(position..<position, access.name.text + " "))
            }
            let shifted = edits.map { edit in
                SourceEdit((edit.range.lowerBound - start)..<(edit.range.upperBound - start), edit.replacement)
            }
            let lines = SourceEdit.apply(shifted, to: member.item.description)
                .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            let rest = lines.drop { $0.allSatisfy(\.isWhitespace) }
            // A member in the line of the brace has no indentation.
            let isIndented = rest.first?.first?.isWhitespace ?? true
            return (isIndented ? "" : "    ") + rest.joined(separator: lineBreak)
        }

        /// Where an access level is written; nil if the declaration has one.
        private static func positionOfAccess(of declaration: DeclSyntax) -> Int? {
            guard let modified = declaration.asProtocol((any WithModifiersSyntax).self),
                !modified.modifiers.hasAccessLevel
            else {
                return nil
            }
            if let first = modified.modifiers.first { return first.codeRange.lowerBound }
            let keyword: TokenSyntax? =
                switch declaration.as(DeclSyntaxEnum.self) {
                case .variableDecl(let node): node.bindingSpecifier
                case .functionDecl(let node): node.funcKeyword
                case .initializerDecl(let node): node.initKeyword
                case .subscriptDecl(let node): node.subscriptKeyword
                default: nil
                }
            return keyword?.codeRange.lowerBound
        }

        private static func imports(of file: SourceFile) -> Set<String> {
            Set(file.tree.statements.compactMap { $0.item.as(ImportDeclSyntax.self)?.path.trimmedDescription })
        }
    }

    /// Collects the extensions of a file that are not inside `#if`, so that their members can move.
    final class Extensions: CompiledCodeVisitor {
        private var extensions: [ExtensionDeclSyntax] = []

        static func all(in tree: SourceFileSyntax) -> [ExtensionDeclSyntax] {
            let visitor = Extensions()
            visitor.walk(tree)
            return visitor.extensions
        }

        override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

        override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
            extensions.append(node)
            return .skipChildren
        }
    }
#endif
