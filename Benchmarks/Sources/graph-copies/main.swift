import Coral
import CoralTools

// graph-copies WAY FOLDERS STORE: copies a store of folders with a hundred notes each in one of these ways, in a
// process of its own. Prints seconds, the number of copies and the peak memory.

let arguments = CommandLine.arguments
guard arguments.count == 4, let folders = Int(arguments[2]) else {
    FileHandle.standardError.write(
        Data("usage: graph-copies make|plan|together|batches|rows|subset FOLDERS STORE\n".utf8))
    exit(2)
}
let url = URL(fileURLWithPath: arguments[3])
let container = NSPersistentContainer(name: "Folders", managedObjectModel: FoldersModel.make())
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
var failure: (any Error)?
container.loadPersistentStores { failure = $1 }
if let failure { throw failure }

let context = container.newBackgroundContext()
if arguments[1] == "make" {
    try await FoldersModel.fill(context, folders: folders)
    exit(0)
}
let ids = try await context.perform {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Folder")
    request.resultType = .managedObjectIDResultType
    return try context.fetch(request)
}
let start = Date()
var copier = GraphCopier()
var count = 0
switch arguments[1] {
case "rows": count = try await copier.copy(ids, in: container).count
case "plan": count = try await context.perform { try copier.plan(ids.map(context.object(with:))).originals.count }
case "together", "batches":
    // A hook needs the objects, so that the store does not copy their rows.
    copier.rules.didCopy = { _, _ in }
    count = try await copier.copy(ids, in: container, inBatches: arguments[1] == "batches").count
default:
    let part = url.deletingPathExtension().appendingPathExtension("part")
    count = try await context.perform {
        try GraphSubset().export(ids.map(context.object(with:)), to: part).originals.count
    }
}
print("\(arguments[1]): \(count) copies in \(Date().timeIntervalSince(start)) s, peak \(PeakMemory.megabytes) MB")
