#if Macros
    import SwiftSyntax

    /// The members that `@Model` adds to a class.
    struct ModelMembers {
        let declaration: ClassDeclSyntax
        let variables: [ModelVariable]
        /// What `#Unique` and `#Index` state.
        let groups: [ModelGroup]
        /// Whether the superclass is a model too.
        let isSubclass: Bool

        private var className: String { declaration.name.text }

        private var access: String { declaration.modifiers.accessOfWitnesses }

        private var isFinal: Bool { declaration.modifiers.contains { $0.name.text == "final" } }

        var declarations: [DeclSyntax] {
            var declarations: [DeclSyntax] = [
                """
                @Transient
                private var _$backingData: any SwiftData.BackingData<\(raw: className)> = \(raw: className)._createBackingData()
                """,
                """
                \(raw: access)\(raw: isSubclass ? "override " : "")var persistentBackingData: any SwiftData.BackingData<\(raw: root)> {
                    get { \(raw: isSubclass ? joined : "_$backingData") }
                    set { \(raw: isSubclass ? "super.persistentBackingData = newValue" : replacement) }
                }
                """,
                """
                \(raw: access)\(raw: metadataModifier)var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
                    \(raw: isSubclass ? "super.schemaMetadata + " : "")[
                        \(raw: metadata.joined(separator: ",\n        "))
                    ]
                }
                """,
            ]
            declarations += registrar + ["struct _SwiftDataNoType {}"]
            let markers = variables.filter { !$0.isConstant }.map { "\($0.marker) = _SwiftDataNoType()" }
            declarations.append(
                """
                \(raw: access)required init(backingData: any SwiftData.BackingData<\(raw: root)>) {
                    \(raw: (markers + [isSubclass ? "super.init(backingData: backingData)" : "self.persistentBackingData = backingData"]).joined(separator: "\n    "))
                }
                """)
            if !isSubclass {
                declarations += [
                    "@Transient @exclusivity(unchecked) private var _$record: Unmanaged<SwiftData.ModelRecord>?",
                    """
                    \(raw: access)\(raw: isFinal ? "" : "final ")var _heldRecord: Unmanaged<SwiftData.ModelRecord>? {
                        if let record = _$record {
                            return record
                        }
                        _$record = persistentBackingData._record.map(Unmanaged.passUnretained)
                        return _$record
                    }
                    """,
                    """
                    internal nonisolated func access<_M>(keyPath: KeyPath<\(raw: className), _M>) {
                        _$observationRegistrar.access(self, keyPath: keyPath)
                    }
                    """,
                    """
                    internal nonisolated func withMutation<_M, _MR>(
                        keyPath: KeyPath<\(raw: className), _M>, _ mutation: () throws -> _MR
                    ) rethrows -> _MR {
                        try _$observationRegistrar.withMutation(of: self, keyPath: keyPath, mutation)
                    }
                    """,
                ]
            }
            return declarations
        }

        /// The registrar of Observation, which an object of a subclass has from its superclass.
        private var registrar: [DeclSyntax] {
            if isSubclass {
                return [
                    "private var _$observationRegistrar: Observation.ObservationRegistrar { _inheritedRegistrar }"
                ]
            }
            return [
                "@Transient private let _$observationRegistrar = Observation.ObservationRegistrar()",
                "\(raw: access)\(raw: isFinal ? "" : "final ")var _observationRegistrar: Observation.ObservationRegistrar? { _$observationRegistrar }",
            ]
        }

        /// The class that first declares the backing data.
        private var root: String { isSubclass ? "Root" : className }

        /// Replaces the backing data. The record is found again at the next access.
        private var replacement: String { "_$backingData = newValue\n_$record = nil" }

        /// The backing data of a subclass. The values that its init accessors have set before the superclass was initialised
        /// move into the backing data of the superclass.
        private var joined: String { "_$backingData._joined(to: super.persistentBackingData)" }

        private var metadataModifier: String {
            if isSubclass { return "override class " }
            return isFinal ? "static " : "class "
        }

        /// The elements of `schemaMetadata`: the properties in the order of the source, then `#Unique` and `#Index`.
        private var metadata: [String] {
            variables.map { $0.propertyMetadata(of: className) } + groups.map { $0.propertyMetadata(of: className) }
        }
    }

    extension DeclModifierListSyntax {
        /// The access, with a space, of a member that implements a public protocol for a type with these modifiers.
        var accessOfWitnesses: String {
            if contains(where: { ["public", "open"].contains($0.name.text) }) { return "public " }
            return contains { $0.name.text == "package" } ? "package " : ""
        }
    }

    /// The attributes of a property that `@Model` reads.
    struct ModelAttributes {
        private let attributes: [AttributeSyntax]

        static let transient = ["Transient", "SwiftData.Transient"]
        private static let ignored = transient + ["ObservationIgnored"]

        init(_ declaration: VariableDeclSyntax) {
            attributes = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }
        }

        var names: [String] { attributes.map(\.attributeName.trimmedDescription) }

        /// Whether the property is left out of the schema.
        var isIgnored: Bool { names.contains(where: Self.ignored.contains) }

        /// `@Attribute` and `@Relationship`, in their order.
        var statements: [AttributeSyntax] { attributes.filter { Self.statement($0) != nil } }

        /// The expression of the property's metadata: that of `@Attribute` or `@Relationship`, with its arguments.
        var metadata: String? {
            guard let attribute = statements.first, let type = Self.statement(attribute) else { return nil }
            return "SwiftData.Schema.\(type)(\(attribute.arguments?.trimmedDescription ?? ""))"
        }

        /// The type of metadata that an attribute states; nil for other attributes.
        private static func statement(_ attribute: AttributeSyntax) -> String? {
            let name = attribute.attributeName.trimmedDescription
            return ["Attribute", "Relationship"].first { name == $0 || name == "SwiftData." + $0 }
        }
    }
#endif
