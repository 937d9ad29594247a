import CoreData
import GraphDocuments

extension MappingPlan {
    /// Checks a mapping against a model and the registered transformers.
    ///
    /// The identity of objects is declared by the mapping, else by the model's `coral.identity`, else by its uniqueness
    /// constraints.
    ///
    /// Throws `MappingError` with all errors, and `ImportError` if an identity does not fit the model.
    package convenience init(
        _ mapping: Mapping, model: NSManagedObjectModel, identity: ObjectIdentity = ObjectIdentity()
    ) throws {
        var known: [String: [String]] = [:]
        let rules = try IdentityRules(model, identity: identity)
        for entity in model.entities {
            guard let rule = rules.rules(of: entity).first else { continue }
            known[entity.name ?? ""] = rule.parts.map(\.name)
        }
        try self.init(
            mapping.named(in: model), schema: GraphSchema(model), identities: known,
            functions: MappedFunctions.registered(named:))
    }
}

extension Mapping {
    /// All parts that do not fit a model or are not registered: unknown entities, properties and transformers, invalid
    /// key paths, declarations of the wrong kind.
    public func mistakes(in model: NSManagedObjectModel) -> [MappingMistake] {
        do {
            return try MappingPlan(
                named(in: model), schema: GraphSchema(model), functions: MappedFunctions.registered(named:)
            ).warnings
        } catch let error as MappingError {
            return error.mistakes
        } catch {
            return []
        }
    }
}

extension Mapping {
    /// The mapping of a property, given as a key path such as `\Note.title`.
    ///
    ///     mapping[\Note.title].keys = ["name"]
    public subscript<Object: NSManagedObject>(keyPath: PartialKeyPath<Object>) -> PropertyMapping {
        get { self[Object.ruleName][Object.ruleNames([keyPath])[0]] }
        set { self[Object.ruleName][Object.ruleNames([keyPath])[0]] = newValue }
    }

    /// Sets the properties that identify the objects of a class.
    ///
    ///     mapping.setIdentity(\Note.id)
    public mutating func setIdentity<Object: NSManagedObject>(_ parts: PartialKeyPath<Object>...) {
        self[Object.ruleName].identity = Object.ruleNames(parts)
    }

    /// The mapping with the names of entities: typed key paths have those of classes.
    fileprivate func named(in model: NSManagedObjectModel) -> Mapping {
        var mapping = self
        mapping.entities = KeyPathResolver.named(entities, in: model)
        return mapping
    }

    /// An identity completed by the keys of the mapping.
    func completing(_ identity: ObjectIdentity, in model: NSManagedObjectModel) -> ObjectIdentity {
        var identity = identity
        identity.keys = KeyPathResolver.named(identity.keys, in: model)
        for (name, declared) in named(in: model).entities {
            guard let key = declared.identity, identity.keys[name] == nil, model.entitiesByName[name] != nil else {
                continue
            }
            identity.keys[name] = key
        }
        return identity
    }
}

extension MappingPlan {
    /// Omits relationships from a shape that documents of the mapping do not contain, so that they are not followed.
    func omitUnmapped(from shape: inout GraphShape, model: NSManagedObjectModel) {
        for entity in model.entities {
            for relationship in entity.relationshipsByName.keys where !writes(relationship, of: entity.name ?? "") {
                shape.set("\(entity.name ?? "").\(relationship)", .omit)
            }
        }
    }
}

extension MappedFunctions {
    /// The functions of a registered `ValueTransformer`: forward for reading, in reverse, if supported, for writing.
    package static func registered(named name: String) -> MappedFunctions? {
        guard let transformer = ValueTransformer(forName: NSValueTransformerName(name)) else { return nil }
        let isReversible = type(of: transformer).allowsReverseTransformation()
        return MappedFunctions(
            read: { tree in
                try transformer.transformedValue(tree.foundationObject).map { try ReadableValue($0) }
            },
            write: isReversible
                ? { tree in try transformer.reverseTransformedValue(tree.foundationObject).map { try ReadableValue($0) }
                }
                : nil)
    }
}

extension ReadableValue {
    /// The tree of a Foundation object, null for `NSNull`.
    fileprivate init(_ object: Any) throws {
        try self.init(foundationObject: object, depthLimit: 256)
    }
}
