import Foundation
import PredicateLanguage

// Key paths, and what stands for collections and strings.

extension PredicateExpressions.KeyPath: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        if isCaptured { return translation.captured(capturedValue) }
        if let filtered = try countOfFilter(translation) { return filtered }
        return try translation.term(root, 0).flatMap { leaf in
            switch leaf {
            case .model(let expression, let modelClass, let canBeNull):
                return Term(try Self.property(keyPath, of: modelClass, expression, canBeNull))
            case .models(let expression, _): return try Self.member(keyPath, ofObjects: expression)
            case .composite(let base, let path, let form, let canBeNull):
                return Term(try Self.element(keyPath, base, path, form, canBeNull))
            case .value(let operand): return Term(try Self.member(keyPath, of: operand))
            case .constant(let captured):
                guard let root = captured.value as? Root.Output else {
                    throw Untranslatable(node: "A key path of a constant")
                }
                return translation.captured(root[keyPath: keyPath])
            case .null, .condition: throw Untranslatable(node: "A key path of nil")
            }
        }
    }

    var isCaptured: Bool { (root as? any TranslatableExpression)?.isCaptured ?? false }
    var capturedValue: Any? {
        ((root as? any TranslatableExpression)?.capturedValue as? Root.Output).map { $0[keyPath: keyPath] }
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) {
        if isCaptured { return reader.add(captured: capturedValue, at: place) }
        reader.add(keyPath)
        reader.read(root, at: place.part(0))
    }

    /// A property of a model.
    private static func property(
        _ keyPath: AnyKeyPath, of modelClass: ModelClass, _ base: ExpressionNode, _ baseCanBeNull: Bool
    ) throws -> Leaf {
        guard let property = modelClass.property(keyPath) else {
            if IdentifierKeyPaths.isIdentifier(keyPath, of: Root.Output.self) {
                return .model(base, modelClass, canBeNull: baseCanBeNull)
            }
            throw Untranslatable(node: "A property of \(modelClass.name) that is not persisted")
        }
        if property.isEphemeral { throw Untranslatable(node: "The ephemeral property \(property.name)") }
        let path = ExpressionNode.keyPath(base: base.rootOfPath, keys: base.keysOfPath + [property.name])
        let canBeNull = baseCanBeNull || property.isOptional
        if let destination = property.destination {
            let other = ModelClass.of(destination)
            return property.isToMany ? .models(path, other) : .model(path, other, canBeNull: canBeNull)
        }
        guard let form = property.form else { throw Untranslatable(node: "The property \(property.name)") }
        return try leaf(base.rootOfPath, base.keysOfPath + [property.name], form, canBeNull)
    }

    private static func leaf(_ base: ExpressionNode, _ path: [String], _ form: ValueForm, _ canBeNull: Bool) throws
        -> Leaf
    {
        switch form {
        case .primitive(let type):
            .value(
                Operand(
                    expression: .keyPath(base: base, keys: path), canBeNull: canBeNull,
                    isText: type == .stringAttributeType))
        case .widened:
            if form.isStoredByBits {
                throw Untranslatable(node: "An unsigned integer of 64 bits")
            } else {
                .value(Operand(expression: .keyPath(base: base, keys: path), canBeNull: canBeNull))
            }
        case .rawEnumeration:
            .value(
                Operand(
                    expression: .keyPath(base: base, keys: path + [path.last ?? ""]), canBeNull: canBeNull, form: form))
        case .enumeration, .structure: .composite(base: base, path: path, form: form, canBeNull: canBeNull)
        case .archive, .json, .transformed: throw Untranslatable(node: "The property \(path.joined(separator: "."))")
        }
    }

    /// A stored property of a structure.
    private static func element(
        _ keyPath: AnyKeyPath, _ base: ExpressionNode, _ path: [String], _ form: ValueForm, _ canBeNull: Bool
    ) throws -> Leaf {
        guard case .structure(let type, let fields) = form,
            let name = StructureLayout.name(of: keyPath, in: type), let field = fields.first(where: { $0.name == name })
        else { throw Untranslatable(node: "A property of a composite") }
        return try leaf(base, path + [name], field.form, canBeNull || field.isOptional)
    }

    /// The raw value of an enumeration, or whether a text is empty.
    private static func member(_ keyPath: AnyKeyPath, of operand: Operand) throws -> Leaf {
        if case .rawEnumeration(let type, let raw)? = operand.form, isRawValue(keyPath, of: type) {
            if raw.isStoredByBits { throw Untranslatable(node: "A raw value of 64 bits without a sign") }
            return .value(Operand(expression: operand.expression, canBeNull: operand.canBeNull))
        }
        if operand.isText, keyPath == \String.isEmpty as AnyKeyPath {
            func test(_ operation: ComparisonOperator) -> PredicateNode {
                .comparison(ComparisonNode(operand.expression, operation, .constant(value: "")))
            }
            return .condition(test(.equalTo), negated: test(.notEqualTo))
        }
        throw Untranslatable(node: "A property of a value")
    }

    /// Whether a key path leads to the raw value of every case. `\R.rawValue` of a generic type equals no key path of the type itself.
    private static func isRawValue(_ keyPath: AnyKeyPath, of type: any RawRepresentable.Type) -> Bool {
        func compare<R: RawRepresentable>(_: R.Type) -> Bool {
            guard let keyPath = keyPath as? KeyPath<R, R.RawValue>, let cases = EnumerationLayout.values(of: R.self)
            else {
                return false
            }
            return cases.allSatisfy { $0[keyPath: keyPath] as? AnyHashable == $0.rawValue as? AnyHashable }
        }
        return compare(type)
    }

    /// The number of objects of a relationship, or whether there is none.
    private static func member(_ keyPath: AnyKeyPath, ofObjects objects: ExpressionNode) throws -> Term {
        func names<C: Collection>(_: C.Type) -> (isEmpty: Bool, count: Bool) {
            (keyPath == \C.isEmpty as AnyKeyPath, keyPath == \C.count as AnyKeyPath)
        }
        guard let collection = Root.Output.self as? any Collection.Type else {
            throw Untranslatable(node: "A member of objects")
        }
        var found = _openExistential(collection, do: names)
        if let array = collection as? any ArrayMembers.Type {
            found.isEmpty = found.isEmpty || keyPath == array.isEmptyPath
            found.count = found.count || keyPath == array.countPath
        }
        let count = ExpressionNode.keyPath(base: objects.rootOfPath, keys: objects.keysOfPath + ["@count"])
        if found.count { return Term(.value(Operand(expression: count, canBeNull: false))) }
        guard found.isEmpty else { throw Untranslatable(node: "A member of objects") }
        func test(_ operation: ComparisonOperator) -> PredicateNode {
            .comparison(ComparisonNode(count, operation, .constant(value: 0)))
        }
        return Term(.condition(test(.equalTo), negated: test(.notEqualTo)))
    }

    /// `filter { … }.count` and `isEmpty`: the root is an array of the elements, the key path one of arrays.
    private func countOfFilter(_ translation: Translation) throws -> Term? {
        guard let filter = (root as? any TranslatableExpression)?.objectFilter else { return nil }
        return try Self.member(keyPath, ofObjects: filter.subquery(translation.part(0)))
    }
}

/// The key paths of an array's own members, which are not equal to those of any collection.
private protocol ArrayMembers {
    static var countPath: AnyKeyPath { get }
    static var isEmptyPath: AnyKeyPath { get }
}

extension Array: ArrayMembers {
    fileprivate static var countPath: AnyKeyPath { \[Element].count }
    fileprivate static var isEmptyPath: AnyKeyPath { \[Element].isEmpty }
}

/// Recognises the key paths of a model's identifier.
private enum IdentifierKeyPaths {
    static func isIdentifier(_ keyPath: AnyKeyPath, of rootType: Any.Type) -> Bool {
        guard let model = rootType as? any PersistentModel.Type else { return false }
        func compare<M: PersistentModel>(_: M.Type) -> Bool {
            keyPath == \M.persistentModelID as AnyKeyPath
                || keyPath == \M.id as AnyKeyPath
                    && type(of: keyPath).valueType == PersistentIdentifier.self
        }
        return _openExistential(model, do: compare)
    }
}

extension ExpressionNode {
    /// What the keys of a key path start at.
    var rootOfPath: ExpressionNode {
        if case .keyPath(let base, _) = self { base } else { self }
    }

    var keysOfPath: [String] {
        if case .keyPath(_, let keys) = self { keys } else { [] }
    }
}

// MARK: - Collections of objects

/// A filter over the objects of a relationship.
protocol ObjectFilter: PartialExpression {
    func subquery(_ translation: Translation) throws -> ExpressionNode
}

extension ObjectFilter {
    var objectFilter: (any ObjectFilter)? { self }
}

extension Translation {
    /// The objects of a relationship for which a condition holds, or does not.
    func subquery(
        _ sequence: Any, _ variable: PredicateExpressions.VariableID, _ test: Any, negated: Bool = false
    ) throws -> ExpressionNode {
        let term = try term(sequence, 0)
        guard term.cases.count == 1, case .models(let objects, let modelClass) = term.cases[0].leaf else {
            throw Untranslatable(node: "A condition on the elements of a value")
        }
        let name = elementName
        let inner = binding(variable, to: Term(.model(.variable(name), modelClass, canBeNull: false)))
        return .subquery(
            collection: objects, variable: name, predicate: try Self.condition(inner.term(test, 1), negated: negated))
    }

    /// Whether a subquery has a result, or has none.
    func exists(_ subquery: ExpressionNode, negated: Bool) -> PredicateNode {
        .comparison(
            ComparisonNode(
                .keyPath(base: subquery, keys: ["@count"]), negated ? .equalTo : .greaterThan, .constant(value: 0)))
    }
}

extension PredicateExpressions.Filter: ObjectFilter {
    func subquery(_ translation: Translation) throws -> ExpressionNode {
        try translation.subquery(sequence, variable.key, filter)
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) {
        reader.add(variable.key)
        reader.read(sequence, filter, at: place)
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        let subquery = try translation.subquery(sequence, variable.key, test)
        return Term(
            .condition(
                translation.exists(subquery, negated: false), negated: translation.exists(subquery, negated: true)))
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) {
        reader.add(variable.key)
        reader.read(sequence, test, at: place)
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        let exceptions = try translation.subquery(sequence, variable.key, test, negated: true)
        return Term(
            .condition(
                translation.exists(exceptions, negated: true), negated: translation.exists(exceptions, negated: false)))
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) {
        reader.add(variable.key)
        reader.read(sequence, test, at: place)
    }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try translation.term(sequence, 0).flatMap { sequence in
            try translation.term(element, 1).flatMap { element in
                switch sequence {
                case .models(let objects, _): return try Self.member(element, of: objects, translation)
                case .constant(let captured): return try Self.element(element, in: captured, translation)
                default: throw Untranslatable(node: "Membership in this value")
                }
            }
        }
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(sequence, element, at: place) }

    /// Whether an object is among those of a relationship.
    private static func member(_ element: Leaf, of objects: ExpressionNode, _ translation: Translation) throws -> Term {
        let name = translation.elementName
        let candidate = Leaf.model(.variable(name), ModelClass.any, canBeNull: false)
        if case .null = element { return translation.fixed(false) }
        let subquery = ExpressionNode.subquery(
            collection: objects, variable: name,
            predicate: try SwiftData.Comparison.equal(candidate, element, negated: false))
        return Term(
            .condition(
                translation.exists(subquery, negated: false), negated: translation.exists(subquery, negated: true)))
    }

    /// Whether a value is among captured ones.
    private static func element(
        _ element: Leaf, in captured: CapturedValue, _ translation: Translation
    ) throws -> Term {
        guard let sequence = captured.value as? any Sequence else {
            throw Untranslatable(node: "Membership in this value")
        }
        let includesNil = hasNil(sequence)
        var operand: Operand
        switch element {
        case .value(let value): operand = value
        case .model(let expression, _, let canBeNull): operand = Operand(expression: expression, canBeNull: canBeNull)
        case .null: return translation.fixed(includesNil)
        default: throw Untranslatable(node: "Membership of this value")
        }
        let form = operand.form
        let stored = try captured.expression { value in
            try ((value as? any Sequence)?.compactMap { unwrapped($0) } ?? []).map {
                try SwiftData.Comparison.stored($0, form: form)
            }
        }
        let isIn = PredicateNode.comparison(ComparisonNode(operand.expression, .in, stored))
        guard operand.canBeNull else { return Term(.condition(isIn, negated: .not(isIn))) }
        let (isNull, isThere) = (
            SwiftData.Comparison.isNull(operand.expression), SwiftData.Comparison.isNotNull(operand.expression)
        )
        if includesNil {
            return Term(.condition(.or([isNull, isIn]), negated: .and([isThere, .not(isIn)])))
        }
        return Term(.condition(.and([isThere, isIn]), negated: .or([isNull, .not(isIn)])))
    }
}

extension ModelClass {
    /// Stands for a class that is not asked.
    fileprivate static let any = ModelClass.of(AnyModel.self)

    fileprivate final class AnyModel: PersistentModel {
        static var schemaMetadata: [Schema.PropertyMetadata] { [] }
        var persistentBackingData: any BackingData<AnyModel>
        init(backingData: any BackingData<AnyModel>) { persistentBackingData = backingData }
    }
}

// MARK: - Strings

/// A test of a text, which a captured text is compared with.
private func textTest(
    _ base: Any, _ other: Any, _ operation: ComparisonOperator, options: ComparisonOptions = [],
    _ translation: Translation
) throws -> Term {
    try translation.term(base, 0).flatMap { base in
        try translation.term(other, 1).flatMap { other in
            if case .value(let operand) = base, !operand.isText {
                throw Untranslatable(node: "A test of the elements of a value")
            }
            let (text, part) = (
                try SwiftData.Comparison.operand(base, for: other), try SwiftData.Comparison.operand(other, for: base)
            )
            // An empty text is in every text; the engine's language follows Core Data, where it is in none.
            if case .constant(let captured) = other, isEmptyText(captured.value) == true {
                return translation.fixed(true)
            }
            if case .value = other { throw Untranslatable(node: "A search for the text of a property") }
            let test = PredicateNode.comparison(
                ComparisonNode(text.expression, operation, part.expression, options: options))
            let isNull = SwiftData.Comparison.isNull(text.expression)
            return Term(.condition(test, negated: text.canBeNull ? .or([isNull, .not(test)]) : .not(test)))
        }
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term { try textTest(base, other, .contains, translation) }
    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(base, other, at: place) }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term { try textTest(base, prefix, .beginsWith, translation) }
    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(base, prefix, at: place) }
}

extension PredicateExpressions {
    /// A search that ignores case and accents: the node of `localizedStandardContains`, which Foundation lacks on this platform.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        public typealias Output = Bool
        public let root: Root
        public let other: Other

        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            let (text, part) = (String(try root.evaluate(bindings)), String(try other.evaluate(bindings)))
            return part.isEmpty || text.range(of: part, options: [.caseInsensitive, .diacriticInsensitive]) != nil
        }
    }

    /// Makes the node of `localizedStandardContains`; `#Predicate` calls it.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
        StringLocalizedStandardContains(root: root, other: other)
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try textTest(root, other, .contains, options: [.caseInsensitive, .diacriticInsensitive], translation)
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(root, other, at: place) }
}
