import Coral

/// Fills a context with objects of any model, with random values and relationships. The same seed gives the same graph.
///
///     var generator = GraphGenerator(seed: 7)
///     let objects = try generator.objects(50, in: context)
public struct GraphGenerator: Sendable {
    private var numbers: SeededNumbers
    /// Functions that create the values of certain attributes, by names such as `Note.title`: the argument is the number of the
    /// object. An inherited attribute has the name of the entity that declares it.
    public var values: [String: @Sendable (Int) -> Any?] = [:]
    /// The probability that an optional property is empty: 0 never, 1 always.
    public var emptiness = 0.2

    /// Creates a generator with a seed.
    public init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    /// Creates objects without saving them. More objects than requested are created if required relationships need them.
    ///
    /// Text, numbers, dates, data and UUIDs differ from object to object, so that uniqueness constraints hold.
    /// Transformable attributes get arrays of text. Validation predicates are not evaluated: use `values` for such
    /// attributes.
    ///
    /// Throws `GraphGenerationError` if the context has no model, or required relationships cannot be satisfied.
    public mutating func objects(_ count: Int, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let coordinator = sequence(first: context, next: \.parent).lazy.compactMap(\.persistentStoreCoordinator).first
        guard let model = coordinator?.managedObjectModel else {
            throw GraphGenerationError("The context has no persistent store coordinator.")
        }
        let entities = model.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
        guard !entities.isEmpty else { throw GraphGenerationError("The model has no entity that can have objects.") }
        var objects: [NSManagedObject] = []
        for _ in 0..<count { objects.append(make(pick(entities), number: objects.count, in: context)) }
        for object in objects { relate(object, to: objects) }
        try satisfy(&objects, in: context)
        return objects
    }

    // MARK: - Values

    private mutating func make(
        _ entity: NSEntityDescription, number: Int, in context: NSManagedObjectContext
    ) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
        for (name, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key }) {
            if attribute.isTransient || attribute is NSDerivedAttributeDescription { continue }
            if let closure = closure(for: name, of: entity) {
                object.setValue(closure(number), forKey: name)
            } else if !attribute.isOptional || !chance(emptiness) {
                object.setValue(value(of: attribute, number: number), forKey: name)
            }
        }
        return object
    }

    private func closure(for name: String, of entity: NSEntityDescription) -> (@Sendable (Int) -> Any?)? {
        sequence(first: entity) { $0.superentity }.lazy.compactMap { values["\($0.name ?? "").\(name)"] }.first
    }

    private mutating func value(of attribute: NSAttributeDescription, number: Int) -> Any? {
        switch attribute.attributeType {
        case .stringAttributeType: "\(attribute.name) \(number)"
        case .integer16AttributeType: NSNumber(value: Int16(truncatingIfNeeded: number))
        case .integer32AttributeType: NSNumber(value: Int32(truncatingIfNeeded: number))
        case .integer64AttributeType: NSNumber(value: Int64(number))
        case .booleanAttributeType: NSNumber(value: chance(0.5))
        case .doubleAttributeType: NSNumber(value: Double(number) + Double.random(in: 0..<1, using: &numbers))
        case .floatAttributeType: NSNumber(value: Float(number) + 0.25)
        case .decimalAttributeType: NSDecimalNumber(mantissa: UInt64(number), exponent: -2, isNegative: false)
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(number) * 3600.125)
        case .binaryDataAttributeType: Data("\(attribute.name) \(number)".utf8)
        case .UUIDAttributeType: uuid()
        case .URIAttributeType: URL(string: "https://example.com/\(number)")
        case .transformableAttributeType:
            // No value can be created for a custom transformer.
            attribute.valueTransformerName == nil ? ["\(attribute.name) \(number)"] as NSArray : nil
        default: nil
        }
    }

    private mutating func uuid() -> UUID {
        let (high, low) = (numbers.next(), numbers.next())
        return withUnsafeBytes(of: (high, low)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    // MARK: - Relationships

    private mutating func relate(_ object: NSManagedObject, to objects: [NSManagedObject]) {
        for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
            let fitting = fitting(relationship, among: objects)
            guard !relationship.isTransient, !fitting.isEmpty, chance(0.5) else { continue }
            let limit = relationship.maxCount == 0 ? 3 : min(3, relationship.maxCount)
            let wanted = relationship.isToMany ? Int.random(in: 0...limit, using: &numbers) : 1
            let targets = (0..<wanted).map { _ in pick(fitting) }
            GraphGenerator.set(targets, relationship, of: object, name)
        }
    }

    private static func set(
        _ targets: [NSManagedObject], _ relationship: NSRelationshipDescription, of object: NSManagedObject,
        _ name: String
    ) {
        if !relationship.isToMany {
            object.setValue(targets.first, forKey: name)
        } else if relationship.isOrdered {
            object.setValue(NSOrderedSet(array: targets), forKey: name)
        } else {
            object.setValue(NSSet(array: targets), forKey: name)
        }
    }

    /// Assigns required destinations: first objects whose inverse is empty too, then new ones. An assignment may remove a
    /// destination from another object, so this is repeated until all are assigned.
    private mutating func satisfy(_ objects: inout [NSManagedObject], in context: NSManagedObjectContext) throws {
        let limit = objects.count * 8 + 64
        var position = 0
        var idle = 0
        while idle < objects.count {
            let object = objects[position % objects.count]
            position += 1
            guard let (name, relationship) = GraphGenerator.lack(of: object) else {
                idle += 1
                continue
            }
            idle = 0
            guard objects.count < limit else {
                throw GraphGenerationError(
                    "\(object.entity.name ?? "").\(name) is required and cannot be satisfied with any objects.")
            }
            var targets: [NSManagedObject] = []
            let isExclusive = relationship.inverseRelationship.map { !$0.isToMany } ?? false
            for _ in 0..<max(1, relationship.minCount) {
                if !isExclusive, let other = fitting(relationship, among: objects).randomElement(using: &numbers) {
                    targets.append(other)
                } else if let entity = concrete(relationship.destinationEntity) {
                    objects.append(make(entity, number: objects.count, in: context))
                    targets.append(objects[objects.count - 1])
                }
            }
            GraphGenerator.set(targets, relationship, of: object, name)
        }
    }

    /// The first required relationship of an object that is empty.
    private static func lack(of object: NSManagedObject) -> (String, NSRelationshipDescription)? {
        object.entity.relationshipsByName.sorted { $0.key < $1.key }.first { name, relationship in
            guard !relationship.isOptional, !relationship.isTransient else { return false }
            guard relationship.isToMany else { return object.value(forKey: name) == nil }
            let value = object.value(forKey: name)
            return ((value as? NSOrderedSet)?.count ?? (value as? NSSet)?.count ?? 0) < relationship.minCount
        }.map { ($0.key, $0.value) }
    }

    private mutating func concrete(_ entity: NSEntityDescription?) -> NSEntityDescription? {
        guard let entity else { return nil }
        var pending = [entity]
        var found: [NSEntityDescription] = []
        while let next = pending.popLast() {
            if !next.isAbstract { found.append(next) }
            pending += next.subentities
        }
        return found.isEmpty ? nil : pick(found.sorted { ($0.name ?? "") < ($1.name ?? "") })
    }

    private func fitting(
        _ relationship: NSRelationshipDescription, among objects: [NSManagedObject]
    ) -> [NSManagedObject] {
        guard let destination = relationship.destinationEntity else { return [] }
        return objects.filter { $0.entity.isKindOf(entity: destination) }
    }

    // MARK: - Random numbers

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &numbers) < probability
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &numbers)]
    }
}

/// The reason why no graph can be generated for a model.
public struct GraphGenerationError: Error, Sendable, Hashable, CustomStringConvertible, LocalizedError {
    /// A description of the error, in one sentence.
    public var message: String

    /// Creates an error with a description.
    public init(_ message: String) { self.message = message }

    public var description: String { message }
    public var errorDescription: String? { description }
}

/// Pseudorandom numbers that are the same for the same seed, on every machine.
public struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates the generator with a seed.
    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
