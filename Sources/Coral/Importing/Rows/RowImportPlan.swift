#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    import GraphDocuments
    @_spi(Stores) import ManagedObjects

    /// An attribute whose values are columns.
    struct RowAttribute {
        let plan: AttributePlan
        let codec: any RowCodec
        let slot: Int

        /// Nil if rows do not support the attribute.
        init?(_ attribute: AttributePlan, in table: EntityRows) {
            guard !attribute.isDerived, let slot = table.slot(ofAttribute: attribute.name),
                let codec = attribute.codec as? any RowCodec
            else { return nil }
            plan = attribute
            self.codec = codec
            self.slot = slot
        }
    }

    /// The identity rule of an entity and its subentities in terms of slots, computed once.
    final class RowKey {
        enum Part {
            case attribute(RowAttribute)
            case reference(RowKey, slot: Int)

            var slot: Int {
                switch self {
                case .attribute(let attribute): attribute.slot
                case .reference(_, let slot): slot
                }
            }
        }

        /// Distinguishes its digests from those of other keys.
        let number: Int
        let table: EntityRows
        let parts: [Part]
        let slots: [Int]
        /// The number of values in a reference.
        let valueCount: Int
        /// The keys in references that are not looked up yet.
        let wanted: RowBatch
        /// The number of lookups by this key.
        var lookupCount = 0
        /// Whether all keys of the table are loaded, so that no lookup is needed.
        var isLoaded = false
        /// Keys that several rows have; complete once `isLoaded`.
        var ambiguous: Set<KeyDigest> = []

        init(number: Int, table: EntityRows, parts: [Part]) {
            self.number = number
            self.table = table
            self.parts = parts
            slots = parts.map(\.slot)
            valueCount = parts.reduce(0) { count, part in
                if case .reference(let key, _) = part { count + key.valueCount } else { count + 1 }
            }
            wanted = table.makeBatch()
        }
    }

    /// How an entity's records map to rows, computed once.
    final class RowEntity {
        struct Link {
            let link: RowLink
            let key: RowKey
            let name: String
            /// Nil if the relationship is optional.
            let requirement: ImportRequirement?
        }

        enum Relationship {
            /// By the index in `toOne` or `toMany`.
            case toOne(Int)
            case toMany(Int)
        }

        let entity: EntityImport
        var name: String { entity.name }
        let table: EntityRows
        let key: RowKey?
        let schema: GraphSchema.Entity
        /// By the index in the schema's entity; nil for properties that rows do not support.
        let attributes: [RowAttribute?]
        let relationships: [Relationship?]
        let toOne: [Link]
        let toMany: [Link]
        /// The attributes that records may mention, each once.
        let comparedAttributes: [RowAttribute]

        fileprivate init(
            _ entity: EntityImport, table: EntityRows, key: RowKey?, schema: GraphSchema.Entity,
            link: (RelationshipImport) throws -> Link?
        ) rethrows {
            self.entity = entity
            self.table = table
            self.key = key
            self.schema = schema
            attributes = schema.attributes.map { described in
                entity.attributes[described.name].flatMap { RowAttribute($0, in: table) }
            }
            var toOne: [Link] = []
            var toMany: [Link] = []
            relationships = try schema.relationships.map { described in
                guard let relationship = entity.relationships[described.name], relationship.policy == .set,
                    let link = try link(relationship)
                else { return nil }
                if relationship.isToMany {
                    toMany.append(link)
                    return .toMany(toMany.count - 1)
                }
                toOne.append(link)
                return .toOne(toOne.count - 1)
            }
            self.toOne = toOne
            self.toMany = toMany
            var met: Set<Int> = []
            comparedAttributes = attributes.compactMap { $0 }.filter { met.insert($0.slot).inserted }
        }
    }

    extension RowEntity {
        /// The reason for objects if a record mentions a property that rows do not support.
        func unsupported(_ property: String) -> ObjectsReason {
            ObjectsReason(
                .model, "Rows do not support \(entity.name).\(property).", entity: entity.name, property: property)
        }

        /// The reason for objects if an object of another entity has a record's key.
        var ofOtherEntity: ObjectsReason {
            ObjectsReason(
                .contents, "An object of another entity has the key of a record of \(entity.name).",
                entity: entity.name)
        }
    }

    extension RowKey {
        /// The reason for objects if several rows have a key.
        var ambiguity: ObjectsReason {
            let name = table.entity.name ?? ""
            return ObjectsReason(.contents, "Several stored objects of \(name) have the same key.", entity: name)
        }
    }

    /// The entities and keys that a document uses, computed on first use.
    final class RowImportPlan {
        private let model: ImportModel
        private let writer: RowWriter
        private var keysByRule: [IdentityRule: RowKey] = [:]
        private(set) var keys: [RowKey] = []

        init(_ model: ImportModel, writer: RowWriter) {
            self.model = model
            self.writer = writer
        }

        /// How an entity's records map to rows. Throws `ObjectsReason` if the object importer is needed.
        func entity(_ schema: GraphSchema.Entity) throws -> RowEntity {
            func reason(_ message: String) -> ObjectsReason { ObjectsReason(.model, message, entity: schema.name) }
            guard let entity = model.entity(schema.name) else {
                throw reason("The model has no entity \(schema.name).")
            }
            if entity.entity.isAbstract { throw reason("\(schema.name) is abstract.") }
            if entity.rules.count > 1 { throw reason("\(schema.name) has several identities.") }
            if entity.newerAttribute != nil {
                throw reason("An attribute orders the versions of objects of \(schema.name).")
            }
            guard let table = try writer.table(of: entity.entity) else {
                throw reason(
                    "\(schema.name) has derived attributes, limited relationships, or more than 64 properties.")
            }
            let key = try entity.rules.first.map { try self.key($0) }
            let plan = try RowEntity(entity, table: table, key: key, schema: schema) { relationship in
                guard let destination = model.entity(relationship.destination), destination.rules.count == 1,
                    case .rows(let key) = try RowCapability({ try self.key(destination.rules[0]) }),
                    let link = table.link(named: relationship.name)
                else { return nil }
                let described = link.relationship
                let requirement = described.isOptional ? nil : ImportRequirement(described, of: entity.entity)
                return RowEntity.Link(link: link, key: key, name: relationship.name, requirement: requirement)
            }
            guard plan.toOne.count(where: { $0.requirement != nil }) == table.requiredReferences.count else {
                throw reason("Rows do not support a required relationship of \(schema.name).")
            }
            return plan
        }

        private func key(_ rule: IdentityRule, generation: Int = 0) throws -> RowKey {
            if let known = keysByRule[rule] { return known }
            let reason = ObjectsReason(
                .model,
                "Rows do not support the identity \(rule.parts.map(\.name).joined(separator: ", ")) of \(rule.entity).",
                entity: rule.entity)
            // The depth is limited: a deeper key refers to itself in a cycle.
            guard generation < 16, let entity = model.entity(rule.entity),
                let table = try writer.table(of: entity.entity)
            else { throw reason }
            var parts: [RowKey.Part] = []
            for part in rule.parts {
                switch part {
                case .attribute(let name):
                    guard let attribute = entity.attributes[name].flatMap({ RowAttribute($0, in: table) }),
                        attribute.codec.canIdentify
                    else { throw reason }
                    parts.append(.attribute(attribute))
                case .relationship(let name):
                    guard let destination = entity.relationships[name].flatMap({ model.entity($0.destination) }),
                        destination.rules.count == 1, let slot = table.link(named: name)?.slot
                    else { throw reason }
                    let key = try self.key(destination.rules[0], generation: generation + 1)
                    parts.append(.reference(key, slot: slot))
                }
            }
            let key = RowKey(number: keys.count, table: table, parts: parts)
            keysByRule[rule] = key
            keys.append(key)
            return key
        }
    }

#endif
