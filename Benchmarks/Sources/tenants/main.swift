// The cost of many tenants on a server: opening a store, an open store, and a request.
//
//     Scripts/test-postgresql --server-for Benchmarks/.build/release/tenants [TENANTS] [CONNECTIONS] [--existing]
//
// Creates a schema for each of the tenants (1,000 by default), opens all stores with a number of connections (8 by default), and
// prints medians and the 99th percentile. The memory of an open store is that of a process that has created none: run the program
// again with --existing. The URL of the server is in the environment variable CORAL_POSTGRESQL.

#if PostgreSQL
    import CoralPostgreSQL
    import CoreData

    private let arguments = CommandLine.arguments.dropFirst().compactMap(Int.init)
    private let count = arguments.first ?? 1000
    private let connectionCount = arguments.dropFirst().first ?? 8

    /// Five entities with eight attributes each, in a chain of relationships.
    private func model() -> NSManagedObjectModel {
        let entities = (0..<5).map { number in
            let entity = NSEntityDescription()
            entity.name = "Entity\(number)"
            entity.properties = (0..<8).map { index in
                let attribute = NSAttributeDescription()
                attribute.name = "value\(index)"
                attribute.attributeType = index == 0 ? .stringAttributeType : .integer64AttributeType
                attribute.isOptional = true
                return attribute
            }
            return entity
        }
        for (entity, next) in zip(entities, entities.dropFirst()) {
            let (members, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
            (members.name, members.destinationEntity, members.inverseRelationship) = ("members", next, owner)
            (owner.name, owner.destinationEntity, owner.inverseRelationship) = ("owner", entity, members)
            owner.maxCount = 1
            entity.properties.append(members)
            next.properties.append(owner)
        }
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    /// The resident memory of this process, in bytes.
    private func memory() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return (Int(pages) ?? 0) * 4096
    }

    private func report(_ name: String, _ times: [Duration]) {
        let milliseconds = times.map { Double($0.components.attoseconds) / 1e15 + Double($0.components.seconds) * 1000 }
            .sorted()
        print(
            String(
                format: "%@: median %.2f ms, 99th percentile %.2f ms", name, milliseconds[milliseconds.count / 2],
                milliseconds[milliseconds.count * 99 / 100]))
    }

    guard let server = ProcessInfo.processInfo.environment["CORAL_POSTGRESQL"] else {
        FileHandle.standardError.write(Data("CORAL_POSTGRESQL is not set.\n".utf8))
        exit(2)
    }
    private let tenants = TenantPool(managedObjectModel: model(), limit: connectionCount, openLimit: count) { name in
        let description = NSPersistentStoreDescription.postgreSQL(url: server, schema: "tenant_\(name)")
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        return description
    }

    /// The time of one request for each tenant, one after the other.
    private func times(_ block: @escaping @Sendable (NSManagedObjectContext) throws -> Void) async throws -> [Duration]
    {
        var times: [Duration] = []
        for number in 0..<count {
            let start = ContinuousClock.now
            try await tenants.withContext(for: "\(number)", block)
            times.append(start.duration(to: .now))
        }
        return times
    }

    // Opened, so that what is made once for all stores is not counted.
    try await tenants.withContext(for: "0") { context in
        _ = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Entity0"))
    }
    if !CommandLine.arguments.contains("--existing") {
        report(
            "create a store, and save one object",
            try await times { context in
                let object = NSEntityDescription.insertNewObject(forEntityName: "Entity0", into: context)
                object.setValue("first", forKey: "value0")
                try context.save()
            })
    }
    for number in 0..<count { tenants.close("\(number)") }
    private let before = try memory()
    report("open a store that exists", try await times { _ in })
    print("an open store: \((try memory() - before) / count) bytes")
    report(
        "fetch one object, with a connection of another tenant",
        try await times { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Entity0")
            request.predicate = NSPredicate(format: "value0 == 'first'")
            guard try context.fetch(request).count == 1 else { throw CocoaError(.fileReadUnknown) }
        })
    private var again: [Duration] = []
    for _ in 0..<count {
        let start = ContinuousClock.now
        try await tenants.withContext(for: "0") { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Entity0")
            request.predicate = NSPredicate(format: "value0 == 'first'")
            guard try context.fetch(request).count == 1 else { throw CocoaError(.fileReadUnknown) }
        }
        again.append(start.duration(to: .now))
    }
    report("fetch one object, with a connection of the same tenant", again)

    private let saveCount = 2000
    private let start = ContinuousClock.now
    try await withThrowingTaskGroup { group in
        for number in 0..<saveCount {
            group.addTask {
                try await tenants.withContext(for: "\(number % count)") { context in
                    let object = NSEntityDescription.insertNewObject(forEntityName: "Entity0", into: context)
                    object.setValue("next", forKey: "value0")
                    try context.save()
                }
            }
        }
        try await group.waitForAll()
    }
    print(
        "saves of one object by \(connectionCount) connections: \(Int(Double(saveCount) / (start.duration(to: .now) / .seconds(1)))) a second"
    )
#else
    import Foundation

    FileHandle.standardError.write(Data("Build with --traits PostgreSQL.\n".utf8))
    exit(2)
#endif
