#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    import GraphDocuments
    @_spi(Stores) import ManagedObjects

    /// The identity rule of an entity and its subentities in terms of slots, computed once.
    final class RowKey {
        enum Part {
            case attribute(AttributeImport, slot: Int)
            case reference(RowKey, slot: Int)

            var slot: Int {
                switch self {
                case .attribute(_, let slot), .reference(_, let slot): slot
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
        }

        enum Relationship {
            /// By the index in `toOne` or `toMany`.
            case toOne(Int)
            case toMany(Int)
        }

        let entity: EntityImport
        let table: EntityRows
        let key: RowKey?
        /// By the index in the schema's entity; nil for properties that rows do not support.
        let attributes: [(attribute: AttributeImport, slot: Int)?]
        let relationships: [Relationship?]
        let toOne: [Link]
        let toMany: [Link]
        /// The slots of attributes that records may mention.
        let attributeSlots: [Int]
        /// The indices in `toOne` of required relationships.
        let required: [Int]

        fileprivate init(
            _ entity: EntityImport, table: EntityRows, key: RowKey?, schema: GraphSchema.Entity,
            link: (RelationshipImport) throws -> Link?
        ) rethrows {
            self.entity = entity
            self.table = table
            self.key = key
            attributes = schema.attributes.map { described in
                guard let attribute = entity.attributes[described.name], !attribute.isDerived,
                    let slot = table.slot(ofAttribute: attribute.name)
                else { return nil }
                return (attribute, slot)
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
            attributeSlots = Set(attributes.compactMap { $0?.slot }).sorted()
            required = toOne.indices.filter { index in
                toOne[index].link.slot.map(table.requiredReferences.contains) ?? false
            }
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

        /// How an entity's records map to rows; nil if the object importer is needed.
        func entity(_ schema: GraphSchema.Entity) throws -> RowEntity? {
            guard let entity = model.entity(schema.name), !entity.entity.isAbstract, entity.rules.count <= 1,
                entity.newerAttribute == nil, let table = try writer.table(of: entity.entity)
            else { return nil }
            var key: RowKey?
            if let rule = entity.rules.first {
                key = try self.key(rule)
                if key == nil { return nil }
            }
            let plan = try RowEntity(entity, table: table, key: key, schema: schema) { relationship in
                guard let destination = model.entity(relationship.destination), destination.rules.count == 1,
                    let key = try self.key(destination.rules[0]), let link = table.link(named: relationship.name)
                else { return nil }
                return RowEntity.Link(link: link, key: key, name: relationship.name)
            }
            // A required relationship may be one that rows do not support.
            return plan.required.count == table.requiredReferences.count ? plan : nil
        }

        private func key(_ rule: IdentityRule, generation: Int = 0) throws -> RowKey? {
            if let known = keysByRule[rule] { return known }
            // The depth is limited: a deeper key refers to itself in a cycle.
            guard generation < 16, let entity = model.entity(rule.entity),
                let table = try writer.table(of: entity.entity)
            else { return nil }
            var parts: [RowKey.Part] = []
            for part in rule.parts {
                switch part {
                case .attribute(let name):
                    guard let attribute = entity.attributes[name], let slot = table.slot(ofAttribute: attribute.name),
                        [.integer16, .integer32, .integer64, .boolean, .string, .uuid].contains(attribute.type.type)
                    else { return nil }
                    parts.append(.attribute(attribute, slot: slot))
                case .relationship(let name):
                    guard let destination = entity.relationships[name].flatMap({ model.entity($0.destination) }),
                        destination.rules.count == 1,
                        let key = try self.key(destination.rules[0], generation: generation + 1),
                        let slot = table.link(named: name)?.slot
                    else { return nil }
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
