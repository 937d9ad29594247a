#if Macros
    import SwiftSyntax

    /// A declaration in a class with `@Model` that looks like a persisted property and cannot be one.
    struct ModelMistake {
        let message: String
        /// The part of the source that the message is about.
        let node: Syntax

        private init(_ message: String, at node: some SyntaxProtocol) {
            (self.message, self.node) = (message, Syntax(node))
        }

        /// The mistake in a member of a class; nil if there is none.
        static func found(in member: some SyntaxProtocol) -> ModelMistake? {
            guard let declaration = member.as(VariableDeclSyntax.self),
                !declaration.modifiers.contains(where: { ["static", "class"].contains($0.name.text) })
            else { return nil }
            let attributes = ModelAttributes(declaration)
            if attributes.isIgnored { return mistakeOfIgnored(declaration, attributes) }
            return mistakeOfForm(declaration, attributes)
                ?? ModelVariable(declaration).flatMap { mistakeOfProperty($0, attributes) }
        }

        /// The persisted properties, `#Unique` and `#Index` inside `#if`. The schema of a class is one list, which cannot depend on a
        /// condition.
        static func conditional(in members: MemberBlockItemListSyntax) -> [ModelMistake] {
            members.compactMap { $0.decl.as(IfConfigDeclSyntax.self) }.flatMap { condition in
                condition.clauses.flatMap { clause -> [ModelMistake] in
                    guard case .decls(let members)? = clause.elements else { return [] }
                    return members.compactMap { conditional($0.decl) } + conditional(in: members)
                }
            }
        }

        private static func conditional(_ member: DeclSyntax) -> ModelMistake? {
            if let variable = ModelVariable(member), variable.isPersisted {
                return ModelMistake(
                    "\(variable.key) is inside #if, where @Model does not find it. Declare it outside of #if, or mark it "
                        + "@Transient.", at: member)
            }
            guard let group = ModelGroup(member) else { return nil }
            return ModelMistake("#\(group.name) is inside #if, where @Model does not find it.", at: member)
        }

        /// An object that is fetched gets the values of the other properties from the store, and has only initial values for these.
        private static func mistakeOfIgnored(
            _ declaration: VariableDeclSyntax, _ attributes: ModelAttributes
        ) -> ModelMistake? {
            guard attributes.names.contains(where: { ModelAttributes.transient.contains($0) }),
                let variable = ModelVariable(declaration), variable.initialValue == nil, let type = variable.type,
                !type.isOptional
            else { return nil }
            return ModelMistake(
                "\(variable.key) needs an initial value or an optional type, because a fetched object has no other "
                    + "value for a property with @Transient.", at: declaration)
        }

        /// A declaration of which the macro cannot make a persisted property.
        private static func mistakeOfForm(
            _ declaration: VariableDeclSyntax, _ attributes: ModelAttributes
        ) -> ModelMistake? {
            let names = declaration.bindings.flatMap { $0.pattern.identifiers }
            if names.count > 1, declaration.bindings.allSatisfy({ $0.accessorBlock == nil }) {
                return ModelMistake(
                    "Declare \(names.joined(separator: " and ")) separately: @Model implements declarations of one "
                        + "property.", at: declaration)
            }
            let name = names.first ?? ""
            for modifier in declaration.modifiers {
                switch modifier.name.text {
                case "lazy":
                    return ModelMistake(
                        "\(name) cannot be lazy, because @Model implements its accessors. Mark it @Transient.",
                        at: modifier)
                case "weak", "unowned":
                    return ModelMistake(
                        "\(name) cannot be \(modifier.name.text), because the context keeps related objects. Remove "
                            + "\(modifier.name.text), or mark \(name) @Transient.", at: modifier)
                default: continue
                }
            }
            if let stated = attributes.statements.first, ModelVariable(declaration) == nil {
                return ModelMistake(
                    "\(name) is computed and has nothing to store: remove \(stated.attributeName.trimmedDescription).",
                    at: stated)
            }
            if attributes.statements.count > 1 {
                return ModelMistake(
                    "\(name) has several of @Attribute and @Relationship. One of them describes a property.",
                    at: attributes.statements[1])
            }
            return nil
        }

        /// A stored property whose value cannot be persisted.
        private static func mistakeOfProperty(
            _ variable: ModelVariable, _ attributes: ModelAttributes
        ) -> ModelMistake? {
            if variable.hasObservers {
                return ModelMistake(
                    "\(variable.key) cannot have an observer, because @Model implements its accessors. Observe it with "
                        + "withObservationTracking, or mark it @Transient.", at: variable.declaration)
            }
            if variable.isConstant, variable.initialValue == nil {
                return ModelMistake(
                    "\(variable.key) must be a var: @Model sets it when an object is fetched.",
                    at: variable.declaration)
            }
            let binding = variable.declaration.bindings.first
            if binding?.initializer?.value.is(ClosureExprSyntax.self) == true, let value = binding?.initializer?.value {
                return ModelMistake(
                    "\(variable.key) is a function, which cannot be stored. Mark it @Transient.", at: value)
            }
            if !variable.isTransformable, let type = variable.type, type.isNeverCodable {
                return ModelMistake(
                    "\(variable.key) has the type \(type.trimmedDescription), which is not Codable. Use a Codable type, "
                        + "store it with .transformable(by:), or mark it @Transient.", at: type)
            }
            return nil
        }
    }

    extension PatternSyntax {
        /// The names that the pattern declares.
        fileprivate var identifiers: [String] {
            if let identifier = self.as(IdentifierPatternSyntax.self) { return [identifier.identifier.text] }
            return self.as(TuplePatternSyntax.self)?.elements.flatMap { $0.pattern.identifiers } ?? []
        }
    }

    extension TypeSyntax {
        /// Whether the type is written as an optional one.
        var isOptional: Bool {
            self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
                || self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
        }

        /// Whether no type of this form is `Codable`: functions, tuples, `Any` and types of protocols.
        fileprivate var isNeverCodable: Bool {
            switch self.as(TypeSyntaxEnum.self) {
            case .functionType, .metatypeType, .someOrAnyType: true
            case .tupleType(let tuple): tuple.elements.count != 1 || tuple.elements.first?.type.isNeverCodable == true
            case .optionalType(let optional): optional.wrappedType.isNeverCodable
            case .implicitlyUnwrappedOptionalType(let optional): optional.wrappedType.isNeverCodable
            case .attributedType(let attributed): attributed.baseType.isNeverCodable
            case .arrayType(let array): array.element.isNeverCodable
            case .dictionaryType(let dictionary): dictionary.key.isNeverCodable || dictionary.value.isNeverCodable
            case .identifierType(let identifier): ["Any", "AnyObject"].contains(identifier.name.text)
            default: false
            }
        }
    }
#endif
