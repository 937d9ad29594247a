import Coral
import Testing

/// Deltas from the history of a store.
@Suite struct HistoryDeltaTests {
    /// Nodes with a parent, children and friends. Their numbers identify them, and the history preserves them.
    private static func model() -> NSManagedObjectModel {
        let node = NSEntityDescription()
        node.name = "Node"
        node.managedObjectClassName = "NSManagedObject"
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        func relationship(_ name: String, _ maximum: Int) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = node
            relationship.maxCount = maximum
            relationship.isOptional = true
            relationship.deleteRule = .nullifyDeleteRule
            return relationship
        }
        let number = attribute("number", .integer64AttributeType)
        number.preservesValueInHistoryOnDeletion = true
        let (parent, children) = (relationship("parent", 1), relationship("children", 0))
        parent.inverseRelationship = children
        children.inverseRelationship = parent
        let (friends, friendOf) = (relationship("friends", 0), relationship("friendOf", 0))
        friends.inverseRelationship = friendOf
        friendOf.inverseRelationship = friends
        node.properties = [
            number, attribute("label", .stringAttributeType), attribute("weight", .doubleAttributeType), parent,
            children,
            friends, friendOf,
        ]
        node.uniquenessConstraints = [["number"]]
        let model = NSManagedObjectModel()
        model.entities = [node]
        return model
    }

    private func context(tracking: Bool, keepingOldValues: Bool = false) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"),
            options: [NSPersistentHistoryTrackingKey: tracking, HistoryOldValuesOption: keepingOldValues])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test func `a coordinator's history is read from a token on, and by author`() throws {
        let source = try context(tracking: true)
        let coordinator = try #require(source.persistentStoreCoordinator)
        func save(_ number: Int, by author: String) throws {
            try source.performAndWait {
                source.transactionAuthor = author
                NSEntityDescription.insertNewObject(forEntityName: "Node", into: source).setValue(
                    number, forKey: "number")
                try source.save()
            }
        }
        func authors(since token: NSPersistentHistoryToken? = nil, by author: String? = nil) throws -> [String?] {
            var authors: [String?] = []
            try coordinator.historyChanges(since: token, author: author) { authors.append($0.author) }
            return authors
        }
        try save(1, by: "app")
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        try save(2, by: "server")
        try save(3, by: "app")
        #expect(try authors() == ["app", "server", "app"])
        #expect(try authors(since: token) == ["server", "app"])
        #expect(try authors(since: token, by: "server") == ["server"])
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        #expect(throws: CocoaError.self) { try coordinator.historyChanges(progress: progress) { _ in } }
    }

    @Test(arguments: 1...12)
    func `the deltas of a random history, applied to another store, give the same graph`(_ seed: UInt64) throws {
        let (source, replica) = (try context(tracking: true), try context(tracking: false))
        let coordinator = try #require(source.persistentStoreCoordinator)
        let copy = try #require(replica.persistentStoreCoordinator)
        var comparison = GraphComparison(coordinator.managedObjectModel)
        comparison.naming = .keys
        var edits = RandomNodeEdits(state: seed, context: source)
        var token: NSPersistentHistoryToken?
        for _ in 0..<25 {
            for _ in 0..<3 { try edits.saveSome() }
            let (delta, next) = try comparison.delta(since: token, to: coordinator)
            token = next
            let document = try delta.encoded(as: .json)
            try GraphDelta(document).apply(to: replica)
            try replica.save()
            let rest = try comparison.delta(from: .stores(coordinator), to: .stores(copy))
            #expect(rest.isEmpty, "seed \(seed): \(rest.changes)")
            if !rest.isEmpty { return }
        }
        let (nothing, last) = try comparison.delta(since: token, to: coordinator)
        #expect(nothing.isEmpty && last == token)
    }

    #if !canImport(Darwin)
        // Only stores of this package's engine keep old values.
        @Test(.enabled(if: Engine.hasRows), arguments: 1...12)
        func `with old values kept, the delta of a random history is the difference of the states, and is reverted`(
            _ seed: UInt64
        ) throws {
            let source = try context(tracking: true, keepingOldValues: true)
            let coordinator = try #require(source.persistentStoreCoordinator)
            var comparison = GraphComparison(coordinator.managedObjectModel)
            comparison.naming = .keys
            var edits = RandomNodeEdits(state: seed, context: source)
            for _ in 0..<20 { try edits.saveSome() }
            let sink = MemorySink()
            try GraphExporter(layout: .flat).exportStore(of: coordinator, to: sink)
            let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
            for _ in 0..<20 { try edits.saveSome() }
            let delta = try comparison.delta(since: token, to: coordinator).delta
            #expect(delta.knowledge == .both)
            let compared = try comparison.delta(from: .document(.data(sink.data)), to: .stores(coordinator))
            #expect(delta.changes == compared.changes, "seed \(seed)")
            let document = try delta.encoded(as: .json)
            try GraphDelta(document).inverse.apply(to: source)
            try source.save()
            let rest = try comparison.delta(from: .document(.data(sink.data)), to: .stores(coordinator))
            #expect(rest.isEmpty, "seed \(seed): \(rest.changes)")
        }
    #endif

    // MARK: - Changed keys

    /// Nodes 1 to 4, each with the next as its friend, in a store with a history and, by a first delta, in a replica.
    private func pair(
        keepingOldValues: Bool
    ) throws -> (source: NSManagedObjectContext, nodes: [NSManagedObject], replica: NSManagedObjectContext) {
        let source = try context(tracking: true, keepingOldValues: keepingOldValues)
        let nodes = (1...4).map { number in
            let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: source)
            node.setValue(number, forKey: "number")
            node.setValue("node \(number)", forKey: "label")
            return node
        }
        for (node, next) in zip(nodes, nodes.dropFirst()) { node.setValue(Set([next]), forKey: "friends") }
        try source.save()
        let replica = try context(tracking: false)
        try comparison(source).delta(since: nil, to: coordinator(source)).delta.apply(to: replica)
        try replica.save()
        return (source, nodes, replica)
    }

    private func coordinator(_ context: NSManagedObjectContext) throws -> NSPersistentStoreCoordinator {
        try #require(context.persistentStoreCoordinator)
    }

    private func comparison(_ context: NSManagedObjectContext) throws -> GraphComparison {
        var comparison = GraphComparison(try coordinator(context).managedObjectModel)
        comparison.naming = .keys
        return comparison
    }

    /// Applies a delta as another device would, and compares both stores.
    private func expectReplicated(
        _ delta: GraphDelta, _ source: NSManagedObjectContext, _ replica: NSManagedObjectContext
    ) throws {
        try GraphDelta(delta.encoded(as: .json)).apply(to: replica)
        try replica.save()
        let rest = try comparison(source).delta(
            from: .stores(coordinator(source)), to: .stores(coordinator(replica)))
        #expect(rest.isEmpty, "\(rest.changes)")
    }

    /// Chains of changed keys, exchanged keys, and keys that objects lose to others.
    private static let changesOfKeys: [@Sendable ([NSManagedObject]) -> Void] = [
        { $0[0].setValue(9, forKey: "number") },
        { nodes in
            for node in nodes { node.setValue((node.value(forKey: "number") as? Int ?? 0) + 1, forKey: "number") }
        },
        { nodes in
            nodes[0].setValue(2, forKey: "number")
            nodes[1].setValue(1, forKey: "number")
        },
        { nodes in
            nodes[3].setValue(nodes[0], forKey: "parent")
            nodes[1].managedObjectContext?.delete(nodes[1])
            nodes[0].setValue(2, forKey: "number")
        },
        { nodes in
            nodes[0].setValue(8, forKey: "number")
            guard let context = nodes[0].managedObjectContext else { return }
            let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
            node.setValue(1, forKey: "number")
            node.setValue(Set([nodes[0], nodes[2]]), forKey: "friends")
            nodes[2].setValue(node, forKey: "parent")
        },
    ]

    @Test(arguments: Array(changesOfKeys.indices))
    func `a delta of two states of one store finds objects by their former keys`(_ index: Int) throws {
        let (source, nodes, replica) = try pair(keepingOldValues: false)
        let sink = MemorySink()
        try GraphExporter(layout: .flat).exportStore(of: coordinator(source), to: sink)
        Self.changesOfKeys[index](nodes)
        try source.save()
        let delta = try comparison(source).delta(from: .document(.data(sink.data)), to: .stores(coordinator(source)))
        try expectReplicated(delta, source, replica)
        try GraphDelta(delta.encoded(as: .xml)).inverse.apply(to: replica)
        try replica.save()
        let rest = try comparison(source).delta(from: .document(.data(sink.data)), to: .stores(coordinator(replica)))
        #expect(rest.isEmpty, "\(rest.changes)")
    }

    @Test func `history alone does not contain former keys, and the delta reports this`() throws {
        let (source, nodes, replica) = try pair(keepingOldValues: false)
        let token = try coordinator(source).currentPersistentHistoryToken(fromStores: nil)
        nodes[0].setValue(9, forKey: "number")
        nodes[1].setValue("other", forKey: "label")
        try source.save()
        let delta = try comparison(source).delta(since: token, to: coordinator(source)).delta
        #expect(delta.updatesWithUnknownKey.map(\.id) == ["Node/=9"])
        let document = try GraphDelta(delta.encoded(as: .json))
        #expect(document == delta)
        let error = #expect(throws: DeltaError.self) { try document.apply(to: replica, checking: false) }
        #expect(error?.code == .unknownKey && error?.place?.id == "Node/=9" && !replica.hasChanges)
    }

    #if !canImport(Darwin)
        @Test(.enabled(if: Engine.hasRows), arguments: Array(changesOfKeys.indices))
        func `with old values kept, the delta of a history finds objects by their former keys`(_ index: Int) throws {
            let (source, nodes, replica) = try pair(keepingOldValues: true)
            let sink = MemorySink()
            try GraphExporter(layout: .flat).exportStore(of: coordinator(source), to: sink)
            let token = try coordinator(source).currentPersistentHistoryToken(fromStores: nil)
            Self.changesOfKeys[index](nodes)
            try source.save()
            let delta = try comparison(source).delta(since: token, to: coordinator(source)).delta
            #expect(delta.updatesWithUnknownKey.isEmpty && delta.knowledge == .both)
            let compared = try comparison(source).delta(
                from: .document(.data(sink.data)), to: .stores(coordinator(source)))
            #expect(delta.changes == compared.changes)
            try expectReplicated(delta, source, replica)
        }

        @Test(.enabled(if: Engine.hasRows), arguments: 1...12)
        func `the deltas of a random history with changed keys, applied and joined, give the same graph`(
            _ seed: UInt64
        ) throws {
            let (source, replica) = (try context(tracking: true, keepingOldValues: true), try context(tracking: false))
            let late = try context(tracking: false)
            var edits = RandomNodeEdits(state: seed, context: source)
            edits.changesNumbers = true
            var token: NSPersistentHistoryToken?
            var joined: GraphDelta?
            for _ in 0..<12 {
                for _ in 0..<2 { try edits.saveSome() }
                let (delta, next) = try comparison(source).delta(since: token, to: coordinator(source))
                token = next
                try expectReplicated(delta, source, replica)
                joined = try joined?.followed(by: delta) ?? delta
            }
            try expectReplicated(try #require(joined), source, late)
        }
    #endif

    @Test func `a delta contains the updated properties, and the preserved values of deleted objects`() throws {
        let context = try context(tracking: true)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let nodes = (1...3).map { number in
            let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
            node.setValue(number, forKey: "number")
            return node
        }
        try context.save()
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        let moment = Date()
        nodes[0].setValue("a", forKey: "label")
        try context.save()
        nodes[0].setValue(nil, forKey: "label")
        nodes[1].setValue(nodes[0], forKey: "parent")
        try context.save()
        context.delete(nodes[2])
        try context.save()
        let delta = try coordinator.changes(since: token)
        #expect(delta.summary == "0 inserted, 2 updated, 1 deleted")
        #expect(delta.knowledge == .new)
        #expect(delta == (try coordinator.changes(since: moment)))
        guard case .updated(let first) = delta.changes[0], case .updated(let second) = delta.changes[1],
            case .deleted(let third) = delta.changes[2]
        else {
            Issue.record("\(delta.changes)")
            return
        }
        #expect(first.attributes == [AttributeChange(name: "label", old: nil, new: .null)])
        #expect(first.relationships.map(\.name) == ["children"])
        #expect(second.attributes.isEmpty && second.relationships.map(\.name) == ["parent"])
        #expect(third.attributes.map(\.name) == ["number"] && third.attributes.first?.value == .integer(3))
    }
}

/// Saves of random changes with a fixed seed.
private struct RandomNodeEdits {
    var state: UInt64
    let context: NSManagedObjectContext
    /// Whether nodes get other numbers, and exchange them.
    var changesNumbers = false
    private var nodes: [NSManagedObject] = []
    private var numbers: Int64 = 0

    init(state: UInt64, context: NSManagedObjectContext) {
        self.state = state &* 0x9E37_79B9_7F4A_7C15
        self.context = context
    }

    private mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % max(1, bound)
    }

    mutating func saveSome() throws {
        for _ in 0...next(4) { edit() }
        if context.hasChanges { try context.save() }
    }

    private mutating func edit() {
        guard nodes.count > 2, next(4) > 0 else {
            // Sometimes with the number of a deleted node.
            let number = next(5) == 0 ? Int64(next(Int(numbers) + 1)) : numbers
            guard !nodes.contains(where: { $0.value(forKey: "number") as? Int64 == number }) else { return }
            numbers += number == numbers ? 1 : 0
            let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
            node.setValue(number, forKey: "number")
            nodes.append(node)
            return
        }
        let node = nodes[next(nodes.count)]
        if changesNumbers, next(3) == 0 {
            let other = nodes[next(nodes.count)]
            let number = node.value(forKey: "number")
            if other === node || next(2) == 0 {
                numbers += 1
                node.setValue(numbers - 1, forKey: "number")
            } else {
                node.setValue(other.value(forKey: "number"), forKey: "number")
                other.setValue(number, forKey: "number")
            }
            return
        }
        switch next(6) {
        case 0: node.setValue("label \(next(100))", forKey: "label")
        case 1: node.setValue(next(2) == 0 ? nil : Double(next(100)), forKey: "weight")
        case 2: node.setValue(next(3) == 0 ? nil : nodes[next(nodes.count)], forKey: "parent")
        case 3: node.mutableSetValue(forKey: "friends").add(nodes[next(nodes.count)])
        case 4: node.mutableSetValue(forKey: "friends").remove(nodes[next(nodes.count)])
        default:
            nodes.removeAll { $0 === node }
            context.delete(node)
        }
    }
}
