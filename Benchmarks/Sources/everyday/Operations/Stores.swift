import CoreData
import Foundation

private let medium = [1000, 10_000, 100_000]

/// Other stores, migration, and many contexts at once.
let stores: [Operation] = [
    Operation("load-model", "a compiled model of n entities with twelve attributes each", sizes: [20, 80, 320]) {
        count, meter in
        let file = try compiledModel(entities: count)
        defer { try? FileManager.default.removeItem(at: file) }
        _ = meter.measure { NSManagedObjectModel(contentsOf: file) }
    },
    Operation("memory-equal", "one object of a store in memory by a value", sizes: medium) { count, meter in
        let scene = try memory(count)
        try meter.measure { for number in 0..<100 { try scene.fetch("number == %@", [number]) } }
    },
    Operation("memory-limit", "20 sorted objects of a store in memory", sizes: medium) { count, meter in
        let scene = try memory(count)
        _ = try meter.measure {
            try scene.fetch("number >= %@", [count / 2]) {
                $0.sortDescriptors = byNumber; $0.fetchLimit = 20
            }
        }
    },
    Operation("memory-count", "a count in a store in memory", sizes: medium) { count, meter in
        let scene = try memory(count)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "number >= %d", count / 2)
        _ = try meter.measure { try scene.context.count(for: request) }
    },
    Operation("memory-all", "all objects of a store in memory and one value of each", sizes: medium) { count, meter in
        let scene = try memory(count)
        try meter.measure { for note in try scene.fetch() { _ = note.value(forKey: "title") } }
    },
    Operation(
        "memory-delete", "n objects of a store in memory deleted, a save after each hundred",
        sizes: medium
    ) { count, meter in
        let scene = try memory(count)
        let notes = try scene.fetch()
        try meter.measure {
            for (index, note) in notes.enumerated() {
                scene.context.delete(note)
                if index % 100 == 99 { try scene.context.save() }
            }
        }
    },
    Operation("xml-save", "one object of an XML store changed and saved", sizes: medium) { count, meter in
        let scene = try Scene(type: NSXMLStoreType)
        let notes = try scene.notes(count)
        notes[0].setValue("changed", forKey: "title")
        try meter.measure { try scene.context.save() }
    },
    Operation("xml-fetch", "one object of an XML store by a value", sizes: medium) { count, meter in
        let scene = try Scene(type: NSXMLStoreType)
        try scene.notes(count)
        scene.context.reset()
        _ = try meter.measure { try scene.fetch("number == %@", [7]) }
    },
    Operation("open", "a store of n objects opened", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        try meter.measure {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: scene.file)
        }
    },
    Operation("migrate-entities", "a model of n entities with one attribute more each", sizes: [20, 80, 320]) {
        count, meter in
        let scene = try Scene(Library.wideModel(entities: count, attributes: 3))
        for store in scene.coordinator.persistentStores { try scene.coordinator.remove(store) }
        try meter.measure {
            let coordinator = NSPersistentStoreCoordinator(
                managedObjectModel: Library.wideModel(entities: count, attributes: 4))
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: scene.file,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
        }
    },
    Operation("pinned", "n commits beside a pinned generation, which is read after each", sizes: [500, 1000, 2000]) {
        count, meter in
        let scene = try Scene()
        let notes = try scene.notes(100)
        let reader = scene.anotherContext()
        try reader.setQueryGenerationFrom(.current)
        _ = try scene.fetch(nil, [], in: reader)
        try meter.measure {
            for step in 0..<count {
                notes[step % 100].setValue(step, forKey: "size")
                try scene.context.save()
                try scene.fetch("number == %@", [step % 100], in: reader)
            }
        }
    },
    Operation("not-pinned", "the same without a pinned generation", sizes: [500, 1000, 2000]) { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(100)
        let reader = scene.anotherContext()
        try meter.measure {
            for step in 0..<count {
                notes[step % 100].setValue(step, forKey: "size")
                try scene.context.save()
                try scene.fetch("number == %@", [step % 100], in: reader)
            }
        }
    },
    Operation("eight-contexts", "eight contexts, n fetches of 20 objects and a save each", sizes: [50, 100, 200]) {
        count, meter in
        let scene = try Scene()
        try scene.fill(10_000)
        let contexts = (0..<8).map { _ in
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = scene.coordinator
            return context
        }
        meter.measure {
            DispatchQueue.concurrentPerform(iterations: 8) { index in
                for step in 0..<count {
                    contexts[index].performAndWait {
                        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                        request.predicate = NSPredicate(format: "number >= %d", step * 40 % 5000)
                        request.sortDescriptors = byNumber
                        request.fetchLimit = 20
                        let notes = try! contexts[index].fetch(request)
                        notes[index].setValue("by \(index) \(step)", forKey: "title")
                        try! contexts[index].save()
                    }
                }
            }
        }
        let file = scene.file
        meter.measureRaw {
            DispatchQueue.concurrentPerform(iterations: 8) { index in
                let raw = RawStore(file)
                for step in 0..<count {
                    raw.run("SELECT * FROM ZNOTE WHERE ZNUMBER >= ? ORDER BY ZNUMBER LIMIT 20", step * 40 % 5000)
                    raw.inTransaction {
                        raw.run(
                            "UPDATE ZNOTE SET ZTITLE = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", "raw \(step)", index + 1)
                    }
                }
            }
        }
    },
]

private func memory(_ count: Int) throws -> Scene {
    let scene = try Scene(type: NSInMemoryStoreType)
    try scene.notes(count)
    scene.context.reset()
    return scene
}

/// The file of a compiled model, as a program's bundle has one for each version.
private func compiledModel(entities count: Int) throws -> URL {
    let model = NSManagedObjectModel()
    model.entities = (0..<count).map { number in
        let entity = NSEntityDescription()
        entity.name = "Entity\(number)"
        entity.properties = (0..<12).map { index in
            let attribute = NSAttributeDescription()
            attribute.name = "attribute\(index)"
            attribute.attributeType = index % 2 == 0 ? .stringAttributeType : .integer64AttributeType
            attribute.isOptional = index % 3 != 0
            return attribute
        }
        return entity
    }
    // A model encodes the content of its compiled file.
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    model.encode(with: archiver)
    archiver.finishEncoding()
    let archive = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    guard let content = archive.decodeObject(of: NSData.self, forKey: "CompiledModel") else {
        throw CocoaError(.fileReadCorruptFile)
    }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mom")
    try Data(referencing: content).write(to: file)
    return file
}
