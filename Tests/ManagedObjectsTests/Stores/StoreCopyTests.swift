import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores

/// Stores written by Apple's framework, moved into memory and back into a file: no row, value or member is lost.
@Suite struct StoreCopyTests {
    @Test(
        .enabled(if: CorpusStores.isPresent, "The corpus is not beside the package."), arguments: CorpusStores.withModel
    )
    func aStoreIsTheSameInMemoryAndInAnotherFile(path: String) throws {
        let origin = try CorpusStores.copy(path)
        let model = try #require(try SQLiteStore.storedModel(at: origin.url))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: origin.url,
            options: [NSReadOnlyPersistentStoreOption: true])
        let before = try content(coordinator)
        #expect(!before.isEmpty)

        let inMemory = try coordinator.migratePersistentStore(
            store, to: URL(fileURLWithPath: "/dev/null"), type: .inMemory)
        #expect(try content(coordinator) == before)

        let copy = try StoreFolder()
        let moved = try coordinator.migratePersistentStore(inMemory, to: copy.url, type: .sqlite)
        #expect(try content(coordinator) == before)
        #expect(moved.identifier == store.identifier)
        try coordinator.remove(moved)
    }

    /// Through a file of another format and back. XML cannot represent control characters: stores with such characters
    /// are refused.
    @Test(
        .enabled(if: CorpusStores.isPresent, "The corpus is not beside the package."),
        arguments: CorpusStores.withModel,
        [NSPersistentStore.StoreType.xml, .archive]
    )
    func aStoreIsTheSameInAFileOfAnotherFormat(path: String, type: NSPersistentStore.StoreType) throws {
        let origin = try CorpusStores.copy(path)
        let model = try #require(try SQLiteStore.storedModel(at: origin.url))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: origin.url,
            options: [NSReadOnlyPersistentStoreOption: true])
        let before = try content(coordinator, hidden: false)
        let file = try StoreFolder(name: "copy")
        let copy: NSPersistentStore
        do {
            copy = try coordinator.migratePersistentStore(store, to: file.url, type: type)
        } catch let error as CocoaError where error.localizedDescription.contains("XML cannot hold") {
            #expect(type == .xml && coordinator.persistentStores == [store])
            return
        }
        #expect(try content(coordinator, hidden: false) == before)
        let folder = try StoreFolder()
        let moved = try coordinator.migratePersistentStore(copy, to: folder.url, type: .sqlite)
        #expect(try content(coordinator, hidden: false) == before)
        #expect(moved.identifier == store.identifier)
        try coordinator.remove(moved)

        // Read from the file, without the keys of the original store.
        let other = NSPersistentStoreCoordinator(managedObjectModel: model)
        try other.addPersistentStore(type: type, at: file.url)
        #expect(try content(other, hidden: false).count == before.count)
    }

    /// Every store of the corpus that contains its model, moved to PostgreSQL and back into a file.
    @Test(
        .enabled(
            if: CorpusStores.isPresent && TestStores.server != nil,
            "The corpus is not beside the package, or CORAL_POSTGRESQL names no server."))
    func everyStoreIsTheSameAfterItWasInPostgreSQL() throws {
        var moved = 0
        for url in CorpusStores.databases {
            let path = String(url.path.dropFirst(CorpusStores.directory.path.count + 1))
            let origin = try CorpusStores.copy(path)
            guard let model = try? SQLiteStore.storedModel(at: origin.url) else { continue }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let options: [AnyHashable: Any] = [
                NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true,
            ]
            // Some files of the corpus are damaged on purpose.
            guard
                let store = try? coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: origin.url, options: options),
                let before = try? content(coordinator)
            else { continue }
            let place = try #require(TestStores.url(TestStores.postgreSQL))
            do {
                let onServer = try coordinator.migratePersistentStore(
                    store, to: place, options: nil, withType: TestStores.postgreSQL)
                #expect(try content(coordinator) == before, "\(path) on the server")
                let copy = try StoreFolder()
                let back = try coordinator.migratePersistentStore(onServer, to: copy.url, type: .sqlite)
                #expect(try content(coordinator) == before, "\(path) moved back")
                #expect(back.identifier == store.identifier)
                try coordinator.remove(back)
                moved += 1
            } catch {
                Issue.record("\(path): \(error)")
            }
            try coordinator.destroyPersistentStore(at: place, ofType: TestStores.postgreSQL, options: nil)
        }
        print("\(moved) stores moved to PostgreSQL and back")
        #expect(moved > 15)
    }

    /// All rows with their values and members, one on each line, sorted.
    private func content(
        _ coordinator: NSPersistentStoreCoordinator, hidden: Bool = true
    ) throws -> [String] {
        let rows = coordinator.rowStores[0]
        var lines: [String] = []
        for entity in coordinator.entities {
            let query = RowQuery(entity: entity, includesSubentities: false)
            let result = try rows.rows(matching: query, generation: nil)
            for position in result.order {
                lines.append(line(result.pages[Int(position.page)], Int(position.row), hidden))
            }
            let keys = try rows.keys(matching: query, generation: nil).map(\.number)
            for toMany in entity.layout.toMany where toMany.isPersistent {
                let members = try rows.members(
                    of: toMany.relationship, owners: keys, ownerEntity: entity, includesRows: false, generation: nil)
                for (index, key) in keys.enumerated() {
                    let range = Int(members.starts[index])..<Int(members.starts[index + 1])
                    var found = members.members[range].map {
                        "\(coordinator.entities[Int($0.entity)].name ?? "")/\($0.number)"
                    }
                    if !toMany.isOrdered { found.sort() }
                    if !found.isEmpty { lines.append("\(entity.name ?? "")/\(key).\(toMany.name): \(found)") }
                }
            }
        }
        return lines.sorted()
    }

    private func line(_ page: RowPage, _ row: Int, _ hidden: Bool) -> String {
        let slots = page.layout.slots.indices.filter { hidden || !page.layout.slots[$0].isHidden }
        let values = slots.map { slot -> String in
            let cell = page.cell(row: row, slot: slot)
            let kind = page.layout.slots[slot].kind
            if kind == .transformable { return Data(page.bytes(of: cell)).base64EncodedString() }
            let value = page.value(of: cell, slot: page.layout.slots[slot])
            switch value {
            case .reference(let key): return "\(key.entity)/\(key.number)"
            case .data(let data): return data.base64EncodedString()
            case .object(let box): return "\(box.value)"
            default: return "\(value)"
            }
        }
        return "\(page.layout.entity.name ?? "")/\(page.primaryKey(ofRow: row)) \(values)"
    }
}
