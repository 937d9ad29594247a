import Coral
import CoralMigration
import CoreData
import Foundation

/// The toolkit: documents, imports, copies, duplicates.
let toolkit: [Operation] = [
    Operation("import-one-by-one", "n objects imported one by one by their key, one save") { count, meter in
        let scene = try Scene()
        var options = ImportOptions()
        options.identity = ObjectIdentity(keys: ["Note": ["number"]])
        try meter.measure {
            for index in 0..<count {
                try scene.context.importObject(
                    from: ["$entity": "Note", "number": index, "title": "Note \(index)"], options: options)
            }
            try scene.context.save()
        }
    },
    Operation("import-document", "a flat document of n objects imported in one context, one save") { count, meter in
        let (data, scene) = try document(count)
        try meter.measure {
            try GraphImporter(into: scene.context).importObjects(from: data)
            try scene.context.save()
        }
    },
    Operation("import-in-batches", "the same in batches") { count, meter in
        let (data, scene) = try document(count)
        _ = try meter.measure { try GraphImporter(into: scene.context).importInBatches(from: .data(data)) }
    },
    Operation("encode", "n objects as a flat document") { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        _ = try meter.measure { try GraphExporter(layout: .flat).encoded(notes) }
    },
    Operation("encode-store", "a whole store of n objects as a flat document") { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        let file = scene.folder.appendingPathComponent("store.json")
        try meter.measure { _ = try GraphExporter(layout: .flat).exportStore(of: scene.coordinator, to: file) }
    },
    Operation("dictionary", "a tree of n objects as a dictionary") { count, meter in
        let (scene, note) = try tree(count)
        _ = try meter.measure { try note.dictionary() }
        withExtendedLifetime(scene) {}
    },
    Operation("populate", "a tree of n objects filled from a dictionary") { count, meter in
        let (scene, note) = try tree(count)
        let dictionary = try note.dictionary(portable: true)
        try meter.measure { try note.populate(from: dictionary) }
        withExtendedLifetime(scene) {}
    },
    Operation("deep-copy", "a tree of n objects copied") { count, meter in
        let (scene, note) = try tree(count)
        _ = try meter.measure { try note.deepCopy() }
        withExtendedLifetime(scene) {}
    },
    Operation("changes-since", "one change in a tree of n objects as a delta") { count, meter in
        let (scene, note) = try tree(count)
        let before = try note.encoded()
        note.setValue("changed", forKey: "title")
        _ = try meter.measure { try note.changes(since: before) }
        withExtendedLifetime(scene) {}
    },
    Operation("deduplicate", "n equal tags of n notes become one") { count, meter in
        let scene = try Scene()
        for note in try scene.notes(count) {
            note.setValue(Set([scene.make("Tag", ["name": "swift"])]), forKey: "tags")
        }
        try scene.context.save()
        try meter.measure {
            try Deduplicator(scene.context, identity: .init(keys: ["Tag": ["name"]])).plan().apply()
        }
    },
]

private func document(_ count: Int) throws -> (Data, Scene) {
    let source = try Scene()
    let data = try GraphExporter(layout: .flat).encoded(try source.notes(count))
    return (data, try Scene())
}

/// A note of n lines, saved.
private func tree(_ count: Int) throws -> (Scene, NSManagedObject) {
    let scene = try Scene()
    let note = scene.make("Note", ["title": "root"])
    let lines = note.mutableOrderedSetValue(forKey: "lines")
    for index in 0..<count { lines.add(scene.make("Line", ["text": "line \(index)"])) }
    try scene.context.save()
    return (scene, note)
}
