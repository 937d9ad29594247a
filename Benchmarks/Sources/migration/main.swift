// The cost of a migration in place, compared with the same statements by hand.
//
//     migration [ROWS] [ROUNDS]
//
// Prints the best of the rounds (3 by default) for a store of notes (1,000,000 by default) in folders, and the peak memory.

import CoreData
import Dispatch
import GRDB

private let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
private let rowCount = arguments.first ?? 1_000_000
private let rounds = arguments.dropFirst().first ?? 3

private func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
}

private func relationship(_ name: String, _ destination: NSEntityDescription, isToMany: Bool)
    -> NSRelationshipDescription
{
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.isOptional = true
    relationship.maxCount = isToMany ? 0 : 1
    return relationship
}

private func entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = "NSManagedObject"
    entity.properties = attributes
    return entity
}

/// The changes of a model: their names, and whether a column is removed, so that the table is copied.
private enum Change: String, CaseIterable {
    case addsAnAttribute = "an attribute with a default value"
    case renumbers = "an entity that comes first, so that all numbers change"
    case removesAnAttribute = "an attribute less, a renamed one"
}

private func model(_ change: Change?) -> NSManagedObjectModel {
    let folder = entity("Folder", [attribute("name", .stringAttributeType)])
    let note = entity(
        "Note",
        [
            attribute("title", .stringAttributeType), attribute("body", .stringAttributeType),
            attribute("rank", .doubleAttributeType), attribute("createdAt", .dateAttributeType),
        ])
    let (parent, notes) = (relationship("folder", folder, isToMany: false), relationship("notes", note, isToMany: true))
    parent.inverseRelationship = notes
    notes.inverseRelationship = parent
    note.properties.append(parent)
    folder.properties.append(notes)
    var entities = [folder, note]
    switch change {
    case .addsAnAttribute:
        let added = attribute("weight", .integer64AttributeType)
        added.defaultValue = 7
        note.properties.append(added)
    case .renumbers: entities.append(entity("Author", []))
    case .removesAnAttribute:
        note.properties.removeAll { $0.name == "rank" }
        note.attributesByName["title"]?.renamingIdentifier = "title"
        note.attributesByName["title"]?.name = "heading"
    case nil: break
    }
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
}

/// Hand-written SQL statements for the change, without Core Data's metadata.
private func statements(_ change: Change) -> [String] {
    switch change {
    case .addsAnAttribute:
        ["ALTER TABLE ZNOTE ADD COLUMN ZWEIGHT INTEGER", "UPDATE ZNOTE SET ZWEIGHT = 7"]
    case .renumbers:
        [
            "CREATE TABLE ZAUTHOR (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)",
            "UPDATE ZFOLDER SET Z_ENT = 2", "UPDATE ZNOTE SET Z_ENT = 3",
        ]
    case .removesAnAttribute:
        [
            "CREATE TABLE new (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFOLDER INTEGER, "
                + "ZCREATEDAT TIMESTAMP, ZBODY VARCHAR, ZHEADING VARCHAR)",
            "INSERT INTO new SELECT Z_PK, Z_ENT, Z_OPT, ZFOLDER, ZCREATEDAT, ZBODY, ZTITLE FROM ZNOTE",
            "DROP TABLE ZNOTE", "ALTER TABLE new RENAME TO ZNOTE",
            "CREATE INDEX ZNOTE_ZFOLDER_INDEX ON ZNOTE (ZFOLDER)",
        ]
    }
}

private func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    try body()
    return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
}

/// The peak memory of the process in MB.
private func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) / 1024
}

/// A store without objects, whose rows are then inserted by SQL.
private func makeStore(_ url: URL) throws {
    do {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(nil))
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        try coordinator.remove(store)
    }
    try DatabaseQueue(path: url.path).write { database in
        try database.execute(
            sql: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount / 100))
                INSERT INTO ZFOLDER (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 1, 1, 'Folder ' || i FROM n;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount))
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZFOLDER, ZCREATEDAT, ZRANK, ZTITLE, ZBODY)
                SELECT i, 2, 1, i % \(rowCount / 100) + 1, i, i / 2.0, 'Note ' || i,
                  'A body of some length, as notes have it, with a few words more.' FROM n;
                UPDATE Z_PRIMARYKEY SET Z_MAX = \(rowCount);
                """)
    }
}

private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

private let original = folder.appendingPathComponent("Notes.sqlite")
try makeStore(original)
print("\(rowCount) notes; memory before: \(peakMemory()) MB")

for change in Change.allCases {
    var (byHand, inPlace) = (Double.infinity, Double.infinity)
    for _ in 0..<rounds {
        let copy = folder.appendingPathComponent("Copy.sqlite")
        try FileManager.default.copyItem(at: original, to: copy)
        byHand = min(
            byHand,
            try seconds {
                var configuration = Configuration()
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
                let queue = try DatabaseQueue(path: copy.path, configuration: configuration)
                try queue.write { database in
                    for statement in statements(change) { try database.execute(sql: statement) }
                }
                try queue.close()
            })
        try FileManager.default.removeItem(at: copy)
        try FileManager.default.copyItem(at: original, to: copy)
        inPlace = min(
            inPlace,
            try seconds {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(change))
                let store = try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: copy,
                    options: [
                        NSMigratePersistentStoresAutomaticallyOption: true,
                        NSInferMappingModelAutomaticallyOption: true,
                    ])
                try coordinator.remove(store)
            })
        try FileManager.default.removeItem(at: copy)
    }
    print("\(change.rawValue): by hand \(byHand) s, migration \(inPlace) s, ratio \(inPlace / byHand)")
}
print("peak memory: \(peakMemory()) MB")
