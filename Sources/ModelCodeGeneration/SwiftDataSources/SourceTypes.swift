import ModelFiles

/// The types of some sources, by name, with what extensions add to them.
struct SourceTypes: Sendable {
    /// The types of the same qualified name, in several files if these are of several targets.
    private let byPath: [[String]: [SourceType]]
    /// All types in the order of the sources.
    let all: [SourceType]

    init(_ declarations: [SourceDeclaration]) {
        var types = declarations.filter { $0.keyword != "extension" }
        var positions: [[String]: [Int]] = [:]
        for (index, type) in types.enumerated() { positions[type.path, default: []].append(index) }
        for each in declarations where each.keyword == "extension" {
            for index in positions[each.path] ?? [] {
                types[index].inherited += each.inherited
                // An extension has no stored properties, but those of a schema or a plan may be static ones in it.
                types[index].variables += each.variables.filter { $0.isComputed || $0.modifiers.contains("static") }
            }
        }
        all = types.map(SourceType.init)
        byPath = Dictionary(grouping: all, by: \.path)
    }

    /// Where a name is used: the names of the enclosing types, and the file.
    struct Scope: Sendable {
        let path: [String]
        let file: String

        init(_ type: SourceType) { (path, file) = (type.path, type.file) }
        init(path: [String], file: String) { (self.path, self.file) = (path, file) }
    }

    /// The type that a name means in a scope; nil if no source declares it.
    ///
    /// - Throws: ``ModelError`` if several types have the name, or it depends on a condition.
    func type(_ path: [String], in scope: Scope, line: Int) throws -> SourceType? {
        for depth in stride(from: scope.path.count, through: 0, by: -1) {
            let candidates = byPath[scope.path.prefix(depth) + path] ?? []
            if let found = try chosen(candidates, path, scope, line) { return found }
        }
        // The first name may be that of a module.
        return path.count > 1
            ? try type(Array(path.dropFirst()), in: Scope(path: [], file: scope.file), line: line) : nil
    }

    private func chosen(
        _ candidates: [SourceType], _ path: [String], _ scope: Scope, _ line: Int
    ) throws -> SourceType? {
        var found = candidates.filter { $0.file == scope.file }
        if found.isEmpty { found = candidates.filter { !$0.isPrivate } }
        guard let first = found.first else { return nil }
        if found.count > 1 {
            let places = found.map { "\($0.file):\($0.line)" }.joined(separator: ", ")
            throw ModelError(
                .duplicateName,
                "\(path.joined(separator: ".")) is declared several times: \(places). Give the files of one target.",
                file: scope.file, line: line)
        }
        return first
    }

    /// A type after type aliases, with the generic arguments.
    ///
    /// - Throws: ``ModelError`` as above, or if an alias refers to itself.
    func resolved(_ name: SourceTypeName, in scope: Scope, line: Int) throws -> ResolvedType {
        var (name, scope) = (name, scope)
        for _ in 0..<32 {
            guard case .named(let path, let arguments) = name.unwrapped else { return .unknown(name) }
            guard let type = try type(path, in: scope, line: line) else {
                return try external(path, arguments, name)
            }
            guard let target = type.target else { return .declared(type, arguments) }
            (name, scope) = (target, Scope(path: Array(type.path.dropLast()), file: type.file))
        }
        throw ModelError(
            .invalidValue, "The type alias \(name.printed) refers to itself.", file: scope.file, line: line)
    }

    /// A type of the standard library or of Foundation.
    private func external(
        _ path: [String], _ arguments: [SourceTypeName], _ name: SourceTypeName
    ) throws -> ResolvedType {
        let modules = ["Swift", "Foundation", "FoundationEssentials", "SwiftUI"]
        let names = path.count > 1 && modules.contains(path[0]) ? Array(path.dropFirst()) : path
        let text = names.joined(separator: ".")
        if arguments.isEmpty, let primitive = StoredPrimitive.named(Self.synonyms[text] ?? text) {
            return .primitive(primitive)
        }
        let counts = ["Array": 1, "ContiguousArray": 1, "Set": 1, "Dictionary": 2]
        if counts[text] == arguments.count { return .collection(text, arguments) }
        if let fields = Self.structures[text] { return .system(fields) }
        return .unknown(name)
    }

    /// Other names of primitive types, which are aliases of the standard library and of Foundation.
    private static let synonyms = [
        "TimeInterval": "Double", "Float32": "Float", "Float64": "Double", "CLLocationDegrees": "Double",
    ]

    /// Structures of Apple's frameworks whose columns stores show, with their elements.
    private static let structures: [String: [StoredForm.Element]] = [
        "Color.Resolved": ["linearRed", "linearGreen", "linearBlue", "opacity"].map {
            StoredForm.Element(name: $0, typeName: "Float", form: .primitive(.float), isOptional: false)
        }
    ]
}

/// What a name of a type means.
enum ResolvedType {
    case primitive(StoredPrimitive)
    /// A type of the sources, with generic arguments.
    case declared(SourceType, [SourceTypeName])
    case collection(String, [SourceTypeName])
    /// A structure of Apple's frameworks.
    case system([StoredForm.Element])
    /// A type that no source declares.
    case unknown(SourceTypeName)
}

/// The form in which SwiftData stores the values of a type of the sources.
struct SourceForms {
    let types: SourceTypes
    /// The property that the form is for, for errors.
    let entity: String
    let property: String
    let file: String
    let line: Int

    /// The maximum number of parts of a generic type. A type with two parameters can double them at each level.
    private static let maximumPartCount = 1000

    private func failure(_ message: String, _ place: (file: String, line: Int)? = nil) -> ModelError {
        ModelError(
            .invalidValue, message, file: place?.file ?? file, line: place?.line ?? line, entity: entity,
            property: property)
    }

    /// The form of a type that is not optional.
    ///
    /// - Throws: ``ModelError`` if it cannot be known from the sources.
    func form(of name: SourceTypeName, in scope: SourceTypes.Scope) throws -> StoredForm {
        var remaining = ModelAttribute.maximumElementCount
        return try form(of: name, in: scope, depth: 0, remaining: &remaining)
    }

    /// - Parameter remaining: The number of elements that the form may still get.
    private func form(
        of name: SourceTypeName, in scope: SourceTypes.Scope, depth: Int, remaining: inout Int
    ) throws -> StoredForm {
        guard depth < ModelAttribute.maximumNesting else {
            throw failure(
                "The type contains itself, or is nested more than \(ModelAttribute.maximumNesting) levels deep.")
        }
        let type = try types.resolved(name.unwrapped, in: scope, line: line)
        if case .unknown(let name) = type {
            throw failure(
                "The type \(name.printed) is not in the sources, so that its columns cannot be known. Give its source too."
            )
        }
        let facts = try Facts(type, types, scope, self)
        switch StoredKind(of: facts) {
        case .primitive(let primitive): return .primitive(primitive.attributeType)
        case .rawEnumeration(let raw): return .rawEnumeration(raw.attributeType)
        case .archive: return .archive
        case .json: return .json
        case .enumeration: return .enumeration(try cases(of: type))
        case .structure: return .structure(try fields(of: type, depth, &remaining))
        }
    }

    /// The cases with a payload first, then the others, as in the metadata of the type.
    private func cases(of type: ResolvedType) throws -> [StoredForm.Case] {
        guard case .declared(let declared, _) = type else { return [] }
        try checkCondition(of: declared, members: declared.cases.map { ($0.name, $0.line, $0.condition) })
        let cases = declared.cases.map { StoredForm.Case(name: $0.name, hasPayload: $0.hasPayload) }
        return cases.filter(\.hasPayload) + cases.filter { !$0.hasPayload }
    }

    private func fields(
        of type: ResolvedType, _ depth: Int, _ remaining: inout Int
    ) throws -> [StoredForm.Element] {
        guard case .declared(let declared, let arguments) = type else {
            if case .system(let elements) = type { return elements }
            return []
        }
        let stored = declared.variables.filter { !$0.isStatic && !$0.isComputed }
        remaining -= stored.count
        guard remaining >= 0 else {
            throw failure("The type has more than \(ModelAttribute.maximumElementCount) elements.")
        }
        try checkCondition(of: declared, members: stored.map { ($0.name, $0.line, $0.condition) })
        let parameters = Dictionary(
            zip(declared.parameters, arguments), uniquingKeysWith: { first, _ in first })
        let scope = SourceTypes.Scope(declared)
        return try stored.map { variable in
            let place = (declared.file, variable.line)
            if let wrapper = variable.attributes.first(where: {
                $0.name.first?.isUppercase == true && $0.name != "MainActor"
            }) {
                throw failure(
                    "\(variable.name) has the property wrapper @\(wrapper.name), whose storage is not known.", place)
            }
            guard let type = try variable.type ?? SourceValue(variable.value).type(in: scope, types) else {
                throw failure("The type of \(variable.name) does not follow from its initial value: state it.", place)
            }
            let actual = type.replacing(parameters)
            guard actual.hasParts(atMost: Self.maximumPartCount) else {
                throw failure(
                    "The type of \(variable.name) has more than \(Self.maximumPartCount) generic arguments.", place)
            }
            let argumentScope = parameters.isEmpty ? scope : SourceTypes.Scope(path: scope.path, file: scope.file)
            return StoredForm.Element(
                name: variable.name, typeName: actual.unwrapped.printed,
                form: try form(of: actual, in: argumentScope, depth: depth + 1, remaining: &remaining).asElement,
                isOptional: actual.isOptional)
        }
    }

    /// Throws if a member that is stored depends on a condition that its type does not depend on.
    private func checkCondition(of type: SourceType, members: [(name: String, line: Int, condition: Int?)]) throws {
        let conditional = members.first { $0.condition != nil && $0.condition != type.condition }
        guard let line = type.memberCondition ?? conditional?.condition else { return }
        throw failure(
            "The members of \(type.name) depend on a condition (#if), so that its columns cannot be known.",
            (type.file, line))
    }

    /// What the rule for the form asks of a type.
    private struct Facts: StoredTypeFacts {
        var primitive: StoredPrimitive?
        var rawPrimitive: StoredPrimitive?
        var isCollection = false
        var isPlainCollection = false
        var isEnumeration = false
        var hasFields = false

        init(_ type: ResolvedType, _ types: SourceTypes, _ scope: SourceTypes.Scope, _ forms: SourceForms) throws {
            switch type {
            case .primitive(let primitive): self.primitive = primitive
            case .collection(_, let elements):
                isCollection = true
                let resolved = try elements.map { try types.resolved($0, in: scope, line: forms.line) }
                for case .declared(let declared, _) in resolved where declared.isModel {
                    throw forms.failure("A relationship to several objects of \(declared.name) is an array of them.")
                }
                isPlainCollection = zip(elements, resolved).allSatisfy { element, type in
                    guard !element.isOptional, case .primitive(let primitive) = type else { return false }
                    return !primitive.isWidened
                }
            case .declared(let declared, _) where declared.kind == .enumeration:
                isEnumeration = true
                rawPrimitive = try Self.rawPrimitive(of: declared, types)
            case .declared(let declared, _):
                if declared.isModel {
                    throw forms.failure(
                        "\(declared.name) is a class with @Model, which can be stored as a relationship only: as the type, or in an array."
                    )
                }
                hasFields =
                    declared.kind == .structure && declared.variables.contains { !$0.isStatic && !$0.isComputed }
            case .system: hasFields = true
            case .unknown: break
            }
        }

        /// The type of raw values: the first of the inherited types, or that of `rawValue` of an own `RawRepresentable`.
        private static func rawPrimitive(of type: SourceType, _ types: SourceTypes) throws -> StoredPrimitive? {
            let scope = SourceTypes.Scope(type)
            if let first = type.inherited.first,
                case .primitive(let primitive) = try types.resolved(first, in: scope, line: type.line)
            {
                return primitive
            }
            guard type.inherits("RawRepresentable"),
                let name = type.variables.first(where: { $0.name == "rawValue" })?.type,
                case .primitive(let primitive) = try types.resolved(name, in: scope, line: type.line)
            else { return nil }
            return primitive
        }
    }
}
