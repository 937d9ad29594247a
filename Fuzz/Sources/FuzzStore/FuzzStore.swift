import CoreData
import Foundation
import FuzzBooks
import FuzzSupport
import ManagedObjects
import StoreTools

/// Called by libFuzzer with each input: a byte for the kind of input, which replaces one part of a valid store: the
/// whole file, patches of it, a log beside it, the metadata, or the cached model. Then the store is read as the command
/// reads it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let data = input(bytes, count)
    guard let kind = data.first, !Books.store.isEmpty else { return 0 }
    let rest = data.dropFirst()
    let url = Books.emptied().appendingPathComponent("Books.sqlite")
    var file = Books.store
    switch kind % 5 {
    case 0: file = Data("SQLite format 3\0".utf8) + rest
    case 1: file = patched(file, by: rest)
    case 2: attempt { try Data(rest).write(to: URL(fileURLWithPath: url.path + "-wal")) }
    default: break
    }
    attempt { try file.write(to: url) }
    if kind % 5 == 3 { replace("UPDATE Z_METADATA SET Z_PLIST = ?", Data(rest), in: url) }
    if kind % 5 == 4 { replace("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", Data(rest), in: url) }
    read(url)
    return 0
}

/// Applies patches of three bytes each: two for an offset, one for the value.
private func patched(_ file: Data, by patches: Data) -> Data {
    var file = file
    let patches = Array(patches)
    for start in stride(from: 0, to: patches.count - 2, by: 3) {
        let place = (Int(patches[start]) << 8 | Int(patches[start + 1])) * 3 % file.count
        file[file.startIndex + place] = patches[start + 2]
    }
    return file
}

private func replace(_ statement: String, _ value: Data, in url: URL) {
    attempt { try StorePatch(url: url).run(statement, value) }
}

private func read(_ url: URL) {
    attempt {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
    }
    var model = Books.model()
    attempt { if let cached = try StoreInspection(url: url).cachedModel { model = cached } }
    attempt {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            for entity in model.entities { attempt { try readObjects(of: entity, in: context) } }
            attempt { _ = try RowCheck(url: url, model: model).problems(in: context) { _, _ in } }
        }
    }
}

private func readObjects(of entity: NSEntityDescription, in context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.fetchLimit = 1000
    for object in try context.fetch(request) {
        for name in object.entity.propertiesByName.keys { _ = object.value(forKey: name) }
    }
}
