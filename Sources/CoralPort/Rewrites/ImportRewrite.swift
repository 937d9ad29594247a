#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// Adds `import CoreData` to files that use its names, with the access level of the file's import of Foundation, `import ManagedMacros` to files that use its macros, and a conditional
    /// import to files that load URLs or read XML. A file that uses the standard streams of C imports their module without the check
    /// of Swift 6 for global variables, which the C library of Apple's platforms passes.
    struct ImportRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files(containing: [""]) {
                var missing: [String] = []
                let rules = Self.rules(about: file)
                if rules.contains(.missingImport) { missing.append("CoreData") }
                let declarations = file.declarations
                if !declarations.attributes.isDisjoint(with: ["Managed", "ManagedValue"]),
                    !declarations.imports.contains("ManagedMacros")
                {
                    missing.append("ManagedMacros")
                }
                edits.add(Self.edits(importing: missing, in: file), to: index)
                for (module, rule) in PortingRule.foundationParts.sorted(by: { $0.key < $1.key })
                where rules.contains(rule) {
                    edits.add(conditionalImport(of: module, in: file), to: index)
                }
                if !file.declarations.imports.contains("Glibc"), StandardStreams.areUsed(in: file) {
                    edits.add(conditionalImport(of: "Glibc", attribute: "@preconcurrency ", in: file), to: index)
                }
            }
            return edits
        }

        /// The rules about imports that a file breaks. A file that imports Core Data and has no name of the other module is not searched.
        private static func rules(about file: SourceFile) -> Set<PortingRule> {
            let parts = ["URL", "HTTP", "XML", "CFRunLoop", ": Bundle"]
            if file.contains("import CoreData\n"), !parts.contains(where: file.contains) { return [] }
            return ImportedNames.missing(in: file.text)
        }

        /// Inserts the import of a module that exists outside Apple's platforms only.
        private func conditionalImport(
            of module: String, attribute: String = "", in file: SourceFile
        ) -> SourceEdit {
            let imports = file.tree.statements.compactMap { $0.item.as(ImportDeclSyntax.self) }
            let access = attribute.isEmpty ? Self.accessOfFoundation(imports) : ""
            let lines = ["#if canImport(\(module))", "\(attribute)\(access)import \(module)", "#endif"]
            // `@preconcurrency` has no effect after an import of Foundation, which has the same declarations.
            if !attribute.isEmpty, let first = imports.first {
                let start = first.codeRange.lowerBound
                return SourceEdit(start..<start, lines.map { $0 + file.lineBreak }.joined())
            }
            if let last = imports.last {
                let end = last.endPosition.utf8Offset
                return SourceEdit(end..<end, lines.map { file.lineBreak + $0 }.joined())
            }
            let start = Self.endOfHeader(of: file)
            return SourceEdit(start..<start, lines.map { $0 + file.lineBreak }.joined() + file.lineBreak)
        }

        /// Inserts imports in alphabetical order between those at the beginning of a file.
        static func edits(importing modules: [String], in file: SourceFile) -> [SourceEdit] {
            let imports = file.tree.statements.compactMap { $0.item.as(ImportDeclSyntax.self) }
            return modules.map { module in
                let line = (module == "CoreData" ? accessOfFoundation(imports) : "") + "import " + module
                if let next = imports.first(where: { $0.path.trimmedDescription > module }) {
                    return SourceEdit(insertionAt(next.codeRange.lowerBound), line + file.lineBreak)
                }
                if let last = imports.last {
                    return SourceEdit(insertionAt(last.endPosition.utf8Offset), file.lineBreak + line)
                }
                return SourceEdit(insertionAt(endOfHeader(of: file)), line + file.lineBreak + file.lineBreak)
            }
        }

        /// The access level with which a file imports Foundation, as `public `: the names of the other module are Foundation's on Apple's
        /// platforms.
        private static func accessOfFoundation(_ imports: [ImportDeclSyntax]) -> String {
            let foundation = imports.first { $0.path.trimmedDescription == "Foundation" }
            return (foundation?.modifiers ?? []).map { $0.trimmedDescription + " " }.joined()
        }

        private static func insertionAt(_ offset: Int) -> Range<Int> { offset..<offset }

        /// The position after the comment at the beginning of a file, if an empty line separates it from the code.
        private static func endOfHeader(of file: SourceFile) -> Int {
            var offset = 0
            var end = 0
            for piece in file.tree.statements.first?.leadingTrivia ?? [] {
                offset += piece.sourceLength.utf8Length
                switch piece {
                case .newlines(let count), .carriageReturnLineFeeds(let count): if count > 1 { end = offset }
                default: break
                }
            }
            return end
        }

        /// Searches for the variables of the C library.
        private final class StandardStreams: CompiledCodeVisitor {
            private static let names = ["stderr", "stdout", "stdin"]
            private var areUsed = false

            static func areUsed(in file: SourceFile) -> Bool {
                guard names.contains(where: file.contains) else { return false }
                let visitor = StandardStreams()
                visitor.walk(file.tree)
                return visitor.areUsed
            }

            override func visit(_ node: LabeledExprSyntax) -> SyntaxVisitorContinueKind {
                // As an argument: `fputs(text, stderr)`.
                let name = node.expression.as(DeclReferenceExprSyntax.self)?.baseName.text
                if let name, Self.names.contains(name) { areUsed = true }
                return .visitChildren
            }
        }
    }

    /// The import of a module that exists on Apple's platforms only becomes conditional where the code that uses it may compile without
    /// it: `CoreGraphics`, whose types Foundation has too, `ObjectiveC`, and `UIKit` or `AppKit` in a file without its names, which often
    /// imports it for Foundation's. `CryptoKit` becomes `Crypto` on other platforms, the same interface in the package swift-crypto.
    /// `import os.log` and `import OSLog` become `import os`, which the package `Apple` has, unless the file reads logs, which OSLog
    /// alone does. `import Observation` becomes public in a file whose public declarations have its types: Apple's Foundation exports
    /// the module, so that the import there may be internal.
    struct AppleImportRewrite: Rewrite {
        private static let optional: Set<String> = ["AppKit", "CoreGraphics", "ObjectiveC", "UIKit"]
        private static let submodules = ["os.log": "os", "os.signpost": "os", "os.lock": "os", "OSLog": "os"]
        private static let readersOfLogs = ["OSLogStore", "OSLogEntry", "OSLogEnumerator", "OSLogPosition"]

        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(
                containing: (Self.optional.sorted() + Self.submodules.keys.sorted() + ["CryptoKit", "Observation"]).map
                {
                    "import " + $0
                }
            ) {
                Visitor($0)
            }
        }

        private final class Visitor: FileEditVisitor {
            override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
                let path = node.path.trimmedDescription
                if let module = AppleImportRewrite.submodules[path] {
                    if path == "OSLog", AppleImportRewrite.readersOfLogs.contains(where: file.contains) {
                        return .skipChildren
                    }
                    edits.append(SourceEdit(node.path.codeRange, module))
                } else if path == "Observation" {
                    guard node.modifiers.isEmpty, PublicObservation.isUsed(in: file) else { return .skipChildren }
                    let start = node.importKeyword.codeRange.lowerBound
                    edits.append(SourceEdit(start..<start, "public "))
                } else if path == "CryptoKit", !isConditional(node) {
                    let lines = [
                        "#if canImport(CryptoKit)", node.trimmedDescription, "#else", "import Crypto", "#endif",
                    ]
                    edits.append(SourceEdit(node.codeRange, lines.joined(separator: file.lineBreak)))
                } else if AppleImportRewrite.optional.contains(path), !isConditional(node) {
                    let isInterface = path == "UIKit" || path == "AppKit"
                    if isInterface, InterfaceNames.areUsed(in: file, of: path) { return .skipChildren }
                    // Apple's modules export Foundation.
                    let foundation = ["Foundation", "CoreData", "XCTest"]
                    let lacksFoundation = isInterface && file.declarations.imports.isDisjoint(with: foundation)
                    let lines =
                        ["#if canImport(\(path))", node.trimmedDescription]
                        + (lacksFoundation ? ["#else", "import Foundation"] : []) + ["#endif"]
                    edits.append(SourceEdit(node.codeRange, lines.joined(separator: file.lineBreak)))
                }
                return .skipChildren
            }

            private func isConditional(_ node: ImportDeclSyntax) -> Bool {
                node.enclosing(IfConfigClauseSyntax.self)?.condition?.trimmedDescription.contains("canImport") == true
            }
        }
    }

    /// Searches for types of Observation in the public declarations of a file.
    private final class PublicObservation: CompiledCodeVisitor {
        private var isUsed = false

        static func isUsed(in file: SourceFile) -> Bool {
            guard file.contains("public ") || file.contains("open ") else { return false }
            let visitor = PublicObservation()
            visitor.walk(file.tree)
            return visitor.isUsed
        }

        override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
            examine(node.initializer, of: node.modifiers)
            return .skipChildren
        }

        override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
            for part in [Syntax(node.signature), Syntax(node.genericParameterClause), Syntax(node.genericWhereClause)] {
                examine(part, of: node.modifiers)
            }
            return .skipChildren
        }

        override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
            for binding in node.bindings { examine(binding.typeAnnotation, of: node.modifiers) }
            return .skipChildren
        }

        override func visit(_ node: InheritanceClauseSyntax) -> SyntaxVisitorContinueKind {
            if let type = node.parent?.asProtocol((any DeclGroupSyntax).self) { examine(node, of: type.modifiers) }
            return .skipChildren
        }

        private func examine(_ part: (some SyntaxProtocol)?, of modifiers: DeclModifierListSyntax) {
            guard let part, modifiers.contains(where: { ["public", "open"].contains($0.name.text) }) else { return }
            let names = part.tokens(viewMode: .sourceAccurate).map(\.text)
            if !Set(names).isDisjoint(with: ["Observation", "Observable", "ObservationRegistrar"]) { isUsed = true }
        }
    }

    /// Searches for names of UIKit or AppKit in the code that is compiled on other platforms.
    private final class InterfaceNames: CompiledCodeVisitor {
        private let prefixes: [String]
        private var areUsed = false

        /// What names of AppKit begin with, after the prefix that Foundation has too.
        private static let stems = [
            "Accessibility", "Alert", "Animation", "App", "Application", "Bezier", "Box", "Button", "Cell", "Click",
            "Collection",
            "Color", "Control", "Cursor", "Document", "Dragging", "Event", "Font", "Gesture", "Graphics", "Grid",
            "Hosting", "Image", "Layout", "Menu", "Nib", "OpenPanel", "Outline", "Page", "Panel", "Pasteboard",
            "PopUp", "Popover", "Print", "ProgressIndicator", "Responder", "SavePanel", "Screen", "Scroll",
            "SearchField", "Segmented", "Sharing", "Slider", "Sound", "Split", "Stack", "Status", "Storyboard",
            "Switch", "Tab", "Table", "Text", "Toolbar", "Touch", "View", "Visual", "Window", "Workspace",
        ].map { "NS" + $0 }

        private init(of module: String) {
            prefixes = module == "UIKit" ? ["UI"] : Self.stems
            super.init()
        }

        static func areUsed(in file: SourceFile, of module: String) -> Bool {
            let visitor = InterfaceNames(of: module)
            visitor.walk(file.tree)
            return visitor.areUsed
        }

        override func visit(_ token: TokenSyntax) -> SyntaxVisitorContinueKind {
            guard case .identifier(let name) = token.tokenKind else { return .skipChildren }
            let isOne = prefixes.contains { prefix in
                name.hasPrefix(prefix) && name.dropFirst(prefix.count).first?.isLowercase != true
            }
            if isOne, name != "UIKit" { areUsed = true }
            return .skipChildren
        }
    }

    /// `Foundation.ValueTransformer` becomes `ValueTransformer`, and `import CoreData.NSManagedObject` becomes `import CoreData`: the
    /// classes come with the module CoreData, which has no parts outside Apple's platforms. A name that the package declares too
    /// keeps its module.
    struct ModuleNameRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["Foundation.", "CoreData."]) { _ in Visitor(declared: package.types) }
        }

        private final class Visitor: EditVisitor {
            private static let names: Set<String> = [
                "NSExpression", "NSPredicate", "NSSortDescriptor", "ValueTransformer",
            ]
            private let declared: Set<String>

            init(declared: Set<String>) { self.declared = declared }

            override func visit(_ node: MemberTypeSyntax) -> SyntaxVisitorContinueKind {
                takeName(node.name, of: node.baseType, in: node)
                return .visitChildren
            }

            override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
                if let base = node.base { takeName(node.declName.baseName, of: base, in: node) }
                return .visitChildren
            }

            private func takeName(_ name: TokenSyntax, of base: some SyntaxProtocol, in node: some SyntaxProtocol) {
                guard base.trimmedDescription == "Foundation", Self.names.contains(name.text),
                    !declared.contains(name.text)
                else { return }
                edits.append(SourceEdit(node.codeRange.lowerBound..<name.codeRange.lowerBound, ""))
            }

            override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
                if node.importKindSpecifier == nil, node.path.count > 1, let first = node.path.first,
                    first.name.text == "CoreData"
                {
                    edits.append(SourceEdit(node.path.codeRange, "CoreData"))
                }
                return .skipChildren
            }
        }
    }
#endif
